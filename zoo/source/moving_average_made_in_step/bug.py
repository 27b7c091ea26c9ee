import tensorflow as tf
from tensorflow import keras

network = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(1e-3)
mse = keras.losses.MeanSquaredError()


@tf.function
def update(features, target):
    average = tf.Variable(0.0, trainable=False)
    with tf.GradientTape() as tape:
        loss = mse(target, network(features, training=True))
    weights = network.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    average.assign(0.9 * average + 0.1 * loss)
    return average


x = tf.random.normal([1024, 10])
y = tf.reduce_sum(x, axis=1, keepdims=True)
batches = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024).batch(32)
for features, target in batches:
    smoothed = update(features, target)
print("loss", float(smoothed))
