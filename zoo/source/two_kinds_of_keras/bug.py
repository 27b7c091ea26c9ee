import numpy as np
import tensorflow as tf
from keras.layers import Dense, Dropout, Input

samples = np.random.rand(500, 30).astype("float32")
malignant = (samples.mean(axis=1) > 0.5).astype("float32")

inputs = Input(shape=(30,))
x = Dense(64, activation="relu")(inputs)
x = Dropout(0.3)(x)
outputs = Dense(1, activation="sigmoid")(x)
model = tf.keras.models.Model(inputs, outputs)

model.compile(optimizer="adam", loss="binary_crossentropy", metrics=[tf.keras.metrics.AUC()])
stop = tf.keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)
model.fit(samples, malignant, validation_split=0.2, epochs=100, callbacks=[stop], verbose=0)
print(model.evaluate(samples, malignant, verbose=0))
