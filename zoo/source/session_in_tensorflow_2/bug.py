"""Fits a line in the style of TensorFlow 1."""

import numpy as np
import tensorflow as tf

x = np.linspace(0, 1, 100).astype(np.float32)
y = 3 * x + 1

weight = tf.Variable(0.0)
bias = tf.Variable(0.0)
inputs = tf.placeholder(tf.float32, [None])
loss = tf.reduce_mean(tf.square(weight * inputs + bias - y))
train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)

with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(200):
        session.run(train, feed_dict={inputs: x})
    print(session.run([weight, bias]))
