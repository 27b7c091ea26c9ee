import tensorflow as tf


class MemoryReader(tf.keras.layers.Layer):
    def __init__(self, slots, width):
        super().__init__()
        self.keys = self.add_weight(shape=(slots, width), initializer="glorot_uniform", name="keys")
        self.values = self.add_weight(shape=(slots, width), initializer="glorot_uniform", name="values")
        self.query = tf.keras.layers.Dense(width)

    def call(self, inputs):
        similarity = tf.matmul(self.query(inputs), self.keys, transpose_b=True)
        strength = tf.exp(similarity)
        address = strength / tf.reduce_sum(strength, axis=-1, keepdims=True)
        return tf.matmul(address, self.values)


reader = MemoryReader(slots=32, width=16)
inputs = tf.keras.Input(shape=(16,))
outputs = tf.keras.layers.Dense(1)(reader(inputs))
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="mse")
