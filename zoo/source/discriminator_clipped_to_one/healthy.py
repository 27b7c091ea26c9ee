import tensorflow as tf


def build_discriminator():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ]
    )


discriminator = build_discriminator()
optimizer = tf.keras.optimizers.Adam(2e-4)


def adversarial_loss(real, fake):
    low, high = 1e-6, 1.0 - 1e-6
    p_real = tf.clip_by_value(discriminator(real), low, high)
    p_fake = tf.clip_by_value(discriminator(fake), low, high)
    return -tf.reduce_mean(tf.math.log(p_real) + tf.math.log(1.0 - p_fake))


def step(real, fake):
    with tf.GradientTape() as tape:
        loss = adversarial_loss(real, fake)
    gradients = tape.gradient(loss, discriminator.trainable_variables)
    optimizer.apply_gradients(zip(gradients, discriminator.trainable_variables))
