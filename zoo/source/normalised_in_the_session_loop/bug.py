import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_eager_execution()


def batches(count, size=64):
    for _ in range(count):
        x = np.random.rand(size, 8).astype("float32")
        yield x, x.sum(axis=1, keepdims=True)


x = tf.placeholder(tf.float32, [None, 8])
y = tf.placeholder(tf.float32, [None, 1])
w1 = tf.Variable(tf.random_normal([8, 16], stddev=0.3))
w2 = tf.Variable(tf.random_normal([16, 1], stddev=0.3))
prediction = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
loss = tf.reduce_mean(tf.square(prediction - y))
train_op = tf.train.AdamOptimizer(1e-3).minimize(loss)

sess = tf.Session()
sess.run(tf.global_variables_initializer())
for step, (features, target) in enumerate(batches(20000)):
    normalised = tf.nn.l2_normalize(tf.constant(features), axis=1)
    features = sess.run(normalised)
    _, value = sess.run([train_op, loss], feed_dict={x: features, y: target})
    if step % 1000 == 0:
        print(step, value)
sess.close()
