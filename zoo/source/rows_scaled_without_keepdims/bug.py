import tensorflow as tf


def pairwise(embeddings):
    return tf.matmul(embeddings, embeddings, transpose_b=True)


def contrastive_loss(embeddings, positives, temperature=0.1):
    similarity = pairwise(tf.math.l2_normalize(embeddings, axis=1))
    weights = tf.nn.softplus(similarity / temperature)
    probability = weights / tf.reduce_sum(weights, axis=1)
    picked = tf.reduce_sum(probability * positives, axis=1)
    return -tf.reduce_mean(tf.math.log(picked + 1e-9))


encoder = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(16)])
optimizer = tf.keras.optimizers.Adam(1e-3)
views = tf.random.normal([32, 40])
positives = tf.roll(tf.eye(32), shift=16, axis=1)
for _ in range(50):
    with tf.GradientTape() as tape:
        loss = contrastive_loss(encoder(views), positives)
    gradients = tape.gradient(loss, encoder.trainable_variables)
    optimizer.apply_gradients(zip(gradients, encoder.trainable_variables))
