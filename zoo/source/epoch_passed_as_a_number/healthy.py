import tensorflow as tf


def block(filters):
    return tf.keras.layers.Conv2D(filters, 4, padding="same", activation="relu")


generator = tf.keras.Sequential([block(32), block(32), tf.keras.layers.Conv2D(3, 4, padding="same", activation="tanh")])
optimizer = tf.keras.optimizers.Adam(2e-4, beta_1=0.5)
writer = tf.summary.create_file_writer("logs")


@tf.function
def train_step(sketch, photo, epoch):
    with tf.GradientTape() as tape:
        painted = generator(sketch, training=True)
        loss = tf.reduce_mean(tf.abs(photo - painted))
    gradients = tape.gradient(loss, generator.trainable_variables)
    optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    with writer.as_default():
        tf.summary.scalar("l1", loss, step=epoch)
    return loss


def fit(dataset, epochs):
    for epoch in range(epochs):
        for sketch, photo in dataset:
            loss = train_step(sketch, photo, tf.constant(epoch, tf.int64))
        print("epoch", epoch, "loss", float(loss))


pairs = tf.data.Dataset.from_tensor_slices((tf.random.uniform([64, 32, 32, 3]), tf.random.uniform([64, 32, 32, 3])))
fit(pairs.batch(4), epochs=150)
