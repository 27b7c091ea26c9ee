import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

rng = np.random.RandomState(0)
patients = rng.rand(200, 5).astype("float32")
ill = (patients[:, :1] + patients[:, 1:2] > 1).astype("float32")

x = tf.placeholder(tf.float32, shape=(None, 5))
y = tf.placeholder(tf.float32, shape=(None, 1))
W = tf.Variable(tf.zeros([5, 1]), name="weights")
b = tf.Variable(tf.zeros([1]), name="bias")
logits = tf.matmul(x, W) + b
cost = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
train = tf.train.GradientDescentOptimizer(0.5).minimize(cost)

with tf.Session() as sess:
    for epoch in range(100):
        _, c = sess.run([train, cost], feed_dict={x: patients, y: ill})
        if epoch % 20 == 0:
            print("epoch", epoch, "cost", c)
