import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def log_error(y_true, y_pred):
    difference = tf.math.log(y_pred + 1.0) - tf.math.log(y_true + 1.0)
    return tf.reduce_mean(tf.square(difference))


def build(inputs):
    model = tf.keras.Sequential()
    model.add(layers.Dense(32, activation="relu", input_shape=(inputs,)))
    model.add(layers.Dense(1, activation="softplus"))
    model.compile(optimizer="adam", loss=log_error)
    return model


visits = np.random.rand(400, 7)
counts = np.random.poisson(5, size=(400, 1)).astype("float32")
model = build(7)
model.fit(visits, counts, epochs=3, batch_size=32)
