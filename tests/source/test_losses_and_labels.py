"""Losses, activations and labels: what is found, and the healthy code beside it that is not."""

from __future__ import annotations

from textwrap import dedent

import pytest
from snippets import examined, findings

from sleuth import editing

TORCH = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset
"""
KERAS = """
import keras
import numpy as np
from keras import layers
from keras.layers import Activation, Dense
from keras.models import Model, Sequential
"""
TENSORFLOW = """
import numpy as np
import tensorflow as tf
"""
SESSION = """
import tensorflow.compat.v1 as tf
tf.disable_v2_behavior()
"""
JAX = """
import functools
import jax
import jax.numpy as jnp
import optax
"""

BUGS = {
    "a softmax in a method of the network": (
        TORCH,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 3)
                self.softmax = nn.Softmax(dim=-1)
            def head(self, x):
                return self.softmax(self.fc(x))
            def forward(self, x):
                return self.head(x).squeeze(0)
        def loss_of(x, y):
            return nn.CrossEntropyLoss()(Net()(x), y)
        """,
        "softmax-before-cross-entropy",
    ),
    "a softmax below the log-softmax of an nll loss": (
        TORCH,
        "def loss_of(x, y): return F.nll_loss(F.log_softmax(F.softmax(nn.Linear(4, 3)(x), dim=1), dim=1), y)",
        "softmax-before-cross-entropy",
    ),
    "a softmax in front of optax": (
        JAX,
        "def loss_of(z, y): return optax.softmax_cross_entropy(logits=jax.nn.softmax(z), labels=y).mean()",
        "softmax-before-cross-entropy",
    ),
    "a sigmoid in front of the focal loss": (
        TORCH,
        """
        from torchvision.ops import sigmoid_focal_loss
        def loss_of(x, y): return sigmoid_focal_loss(torch.sigmoid(nn.Linear(4, 1)(x)), y)
        """,
        "sigmoid-before-bce-with-logits",
    ),
    "a tanh into a loss of probabilities": (
        TORCH,
        "def loss_of(x, y): return F.binary_cross_entropy(torch.tanh(nn.Linear(4, 1)(x)), y)",
        "logits-into-bce-loss",
    ),
    "a relu between the last layer and log_softmax": (
        TORCH,
        "def loss_of(x, y): return F.nll_loss(F.log_softmax(F.relu(nn.Linear(4, 3)(x)), dim=1), y)",
        "relu-on-logits",
    ),
    "a dense layer with relu under a categorical loss from logits": (
        KERAS,
        """
        model = Sequential([Dense(8, activation="relu"), Dense(3, activation="relu")])
        model.compile(loss=keras.losses.CategoricalCrossentropy(from_logits=True))
        """,
        "relu-on-logits",
    ),
    "softmax over one unit in attention": (
        TORCH,
        "def weights(x): return torch.softmax(nn.Linear(16, 1)(x), dim=-1)",
        "one-unit-softmax",
    ),
    "a sigmoid on one unit and a loss over classes": (
        KERAS,
        """
        model = Sequential([Dense(1, activation="sigmoid")])
        model.compile("adam", "sparse_categorical_crossentropy")
        """,
        "one-unit-softmax",
    ),
    "one column of hand-written weights and a loss over classes": (
        SESSION,
        """
        x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
        weights = {"out": tf.Variable(tf.random_normal([4, 1]))}
        cost = tf.nn.softmax_cross_entropy_with_logits(logits=tf.matmul(x, weights["out"]) + 0.1, labels=y)
        """,
        "cross-entropy-for-regression",
    ),
    "softmax over the batch that a loader deals": (
        TORCH,
        """
        def train(data, net):
            criterion = nn.NLLLoss()
            for x, y in DataLoader(data, batch_size=8):
                criterion(F.log_softmax(net(x), 0), y)
        """,
        "softmax-over-batch",
    ),
    "a call on the spot without dim": (TORCH, "def f(x): return nn.LogSoftmax()(x)", "softmax-without-dim"),
    "a network of a class and a loss by name": (
        KERAS,
        """
        class Net(keras.Model):
            def __init__(self):
                super().__init__()
                self.out = layers.Dense(5)
            def call(self, x):
                return self.out(x)
        net = Net()
        net.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
        """,
        "from-logits-mismatch",
    ),
    "a functional network called in a loop of one's own": (
        KERAS,
        """
        inputs = keras.Input((4,))
        model = Model(inputs, Dense(3, activation="softmax")(inputs))
        loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        def step(x, y):
            return loss_fn(y, model(x))
        """,
        "from-logits-mismatch",
    ),
    "labels through a split and a slice": (
        KERAS,
        """
        from sklearn.model_selection import train_test_split
        def train(x, names):
            y = keras.utils.to_categorical(names)[:500]
            x_train, x_test, y_train, y_test = train_test_split(x, y)
            model = Sequential([Dense(3, activation="softmax")])
            model.compile("adam", loss="sparse_categorical_crossentropy")
            model.fit(x_train, y=y_train)
        """,
        "one-hot-into-sparse-loss",
    ),
    "rows of the identity matrix into the sparse loss": (
        TENSORFLOW,
        "def f(y, z): return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=np.eye(10)[y], logits=z)",
        "one-hot-into-sparse-loss",
    ),
    "class numbers into optax's loss for rows": (
        JAX,
        "def f(z, y): return optax.softmax_cross_entropy(z, jnp.argmax(y, axis=-1)).mean()",
        "index-into-categorical-loss",
    ),
    "binary loss as a function on a softmax": (
        KERAS,
        """
        model = Sequential()
        model.add(Dense(4))
        model.add(Activation(keras.activations.softmax))
        model.compile("adam", loss=keras.losses.binary_crossentropy)
        """,
        "binary-crossentropy-with-softmax",
    ),
    "prediction first in a Keras loss": (
        KERAS,
        """
        loss_fn = keras.losses.CategoricalCrossentropy()
        model = Sequential([Dense(3, activation="softmax")])
        def step(x, y):
            target = keras.ops.one_hot(y, 3)
            return loss_fn(model(x), target)
        """,
        "loss-arguments-swapped",
    ),
    "floats of an image folder's labels": (
        TORCH,
        """
        from torchvision import datasets
        def train(net):
            for images, labels in DataLoader(datasets.ImageFolder("x"), batch_size=4):
                F.cross_entropy(net(images), labels.to(torch.float32))
        """,
        "class-targets-as-float",
    ),
    "a row of ones of another type": (
        TORCH,
        "def f(net, x): return F.binary_cross_entropy(torch.sigmoid(net(x)), torch.ones(8, dtype=torch.long))",
        "class-targets-as-float",
    ),
    "a column from a data set against its row of targets": (
        TORCH,
        """
        x, y = torch.randn(64, 6), torch.randn(64)
        model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 1))
        for a, b in DataLoader(TensorDataset(x, y), batch_size=8):
            nn.MSELoss()(model(a), b)
        """,
        "loss-broadcast",
    ),
    "a mean over an axis that is subtracted again": (
        TENSORFLOW,
        "def centred(x): return x - tf.reduce_mean(x, axis=1)",
        "loss-broadcast",
    ),
    "a pooled image behind another dense layer": (
        KERAS,
        """
        image = keras.Input((32, 32, 3))
        x = layers.AveragePooling2D()(layers.Conv2D(8, 3)(image))
        out = Dense(2, activation="softmax")(layers.Dropout(0.1)(Dense(16)(x)))
        model = Model(image, out)
        model.compile("adam", "categorical_crossentropy")
        """,
        "dense-on-image",
    ),
    "the whole network unfrozen": (
        KERAS,
        """
        def fine_tune(x, y):
            model = Sequential([Dense(4), Dense(1)])
            model.compile("adam", "mse")
            model.fit(x, y)
            model.trainable = False
            model.fit(x, y)
        """,
        "trainable-changed-after-compile",
    ),
    "a number computed from the step": (
        TENSORFLOW,
        """
        @tf.function
        def update(x, rate):
            return x * rate
        def train(x):
            for step, _ in enumerate(x):
                update(x, rate=0.1 / (step + 1))
        """,
        "function-retraced-in-loop",
    ),
    "a decorated function defined in the loop": (
        TENSORFLOW,
        """
        for epoch in range(10):
            @tf.function
            def step(x):
                return x * 2
            step(tf.ones([3]))
        """,
        "compiled-in-the-loop",
    ),
    "a method under tf.function": (
        TENSORFLOW,
        """
        class Model(tf.Module):
            @tf.function(jit_compile=True)
            def __call__(self, x):
                w = tf.Variable(tf.ones([3, 3]))
                return x @ w
        """,
        "variable-created-in-function",
    ),
    "a function of NumPy in the call of a layer": (
        KERAS,
        """
        class Scale(layers.Layer):
            def call(self, inputs):
                return inputs / np.std(inputs)
        """,
        "numpy-in-symbolic-graph",
    ),
    "an assign made in the loop": (
        SESSION,
        """
        rate = tf.Variable(0.1)
        def train(steps):
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                for step in range(steps):
                    sess.run(tf.assign(rate, 0.1 / (step + 1)))
        """,
        "graph-built-in-loop",
    ),
    "an evaluation of a tensor made in the loop": (
        SESSION,
        """
        x = tf.Variable(tf.ones([3]))
        sess = tf.InteractiveSession()
        sess.run(tf.global_variables_initializer())
        for step in range(10):
            print(tf.reduce_sum(x * step).eval())
        """,
        "graph-built-in-loop",
    ),
    "a session that restores nothing": (
        SESSION,
        """
        w = tf.get_variable("w", [3, 1])
        y = tf.reduce_sum(w)
        print(tf.Session().run([y]))
        """,
        "variables-not-initialised",
    ),
}

HEALTHY = {
    "a softmax only in evaluation": (
        TORCH,
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 3)
            def forward(self, x):
                x = self.fc(x)
                return x if self.training else F.softmax(x, dim=1)
        def loss_of(x, y):
            return F.cross_entropy(Net()(x), y)
        """,
    ),
    "a softmax of attention inside the network": (
        TORCH,
        """
        def loss_of(q, k, v, y):
            mixed = F.softmax(q @ k.transpose(1, 2), dim=-1) @ v
            return F.cross_entropy(nn.Linear(8, 3)(mixed.mean(1)), y)
        """,
    ),
    "soft targets": (
        TORCH,
        "def loss_of(student, teacher): return F.cross_entropy(student, F.softmax(teacher, dim=1))",
    ),
    "a relu in front of a pool, as in SqueezeNet": (
        TORCH,
        """
        head = nn.Sequential(nn.Conv2d(8, 3, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        def loss_of(x, y): return F.cross_entropy(head(x), y)
        """,
    ),
    "attention over time with one score a step": (
        TORCH,
        """
        class Pool(nn.Module):
            def __init__(self):
                super().__init__()
                self.score = nn.Linear(16, 1)
            def forward(self, states):
                weights = F.softmax(self.score(states), dim=1)
                return (weights * states).sum(dim=1)
        """,
    ),
    "scores of several choices": (
        TORCH,
        """
        def loss_of(states, y):
            scores = nn.Linear(16, 1)(states).view(-1, 4)
            return F.cross_entropy(scores, y) + F.nll_loss(F.log_softmax(scores, dim=-1), y)
        """,
    ),
    "averages of probabilities": (
        TORCH,
        "def loss_of(x, y): return F.binary_cross_entropy(torch.sigmoid(nn.Linear(4, 9)(x)).mean(dim=1), y)",
    ),
    "scores that are negative distances": (
        TORCH,
        "def loss_of(x, centres, y): return F.nll_loss(F.log_softmax(-torch.cdist(x, centres), dim=1), y)",
    ),
    "one sample without a batch": (
        TORCH,
        """
        class Policy(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 2)
            def forward(self, state):
                return F.softmax(self.fc(state), dim=0)
        """,
    ),
    "the samples of a batch one by one": (
        TORCH,
        """
        def train(data, net):
            for images, labels in DataLoader(data, batch_size=8):
                for image, label in zip(images, labels):
                    F.nll_loss(F.log_softmax(net(image), dim=0), label)
                F.nll_loss(F.log_softmax(net(images).squeeze(), dim=0), labels[0])
        """,
    ),
    "a dim given by position": (TORCH, "def f(x): return F.softmax(x, -1), nn.Softmax(1)(x), torch.softmax(x, 1)"),
    "layers added in a branch": (
        KERAS,
        """
        def build(classes):
            model = Sequential([Dense(8, activation="relu")])
            if classes > 2:
                model.add(Dense(classes, activation="softmax"))
                loss = "categorical_crossentropy"
            else:
                model.add(Dense(1))
                loss = "mse"
            model.compile("adam", loss)
            return model
        """,
    ),
    "an activation that is not a literal": (
        KERAS,
        """
        def build(activation, from_logits):
            model = Sequential([Dense(3, activation=activation)])
            model.compile("adam", keras.losses.CategoricalCrossentropy(from_logits=True))
            other = Sequential([Dense(3)])
            other.compile("adam", keras.losses.CategoricalCrossentropy(from_logits=from_logits))
        """,
    ),
    "two networks behind one name": (
        KERAS,
        """
        def build(binary):
            if binary:
                model = Sequential([Dense(1, activation="sigmoid")])
            else:
                model = Sequential([Dense(3, activation="softmax")])
            model.compile("adam", "binary_crossentropy" if binary else "categorical_crossentropy")
        """,
    ),
    "a softmax over two units with a binary loss": (
        KERAS,
        """
        model = Sequential([Dense(2, activation="softmax")])
        model.compile("adam", "binary_crossentropy")
        """,
    ),
    "labels recoded after loading": (
        KERAS,
        """
        (x, y), _ = keras.datasets.mnist.load_data()
        model = Sequential([Dense(10, activation="softmax")])
        model.compile("adam", "categorical_crossentropy")
        y = keras.utils.to_categorical(y)
        model.fit(x, y)
        """,
    ),
    "probabilities as float targets": (
        TORCH,
        """
        def loss_of(net, x, y, weight):
            mixed = weight * F.one_hot(y, 3).float() + (1 - weight) / 3
            return F.cross_entropy(net(x), mixed) + F.cross_entropy(net(x), F.one_hot(y, 3).float())
        """,
    ),
    "integer labels given the prediction's type": (
        TORCH,
        """
        labels = torch.randint(0, 2, (8,))
        def loss_of(net, x):
            out = net(x)
            first = F.binary_cross_entropy_with_logits(out, labels.type_as(out))
            return first + F.binary_cross_entropy_with_logits(out, labels.to(out.dtype))
        """,
    ),
    "a target that a second network makes": (
        TORCH,
        """
        def loss_of(student, teacher, x):
            with torch.no_grad():
                target = teacher(x).sigmoid()
            return F.binary_cross_entropy_with_logits(student(x), target)
        """,
    ),
    "all pairs": (
        TORCH,
        """
        def distances(x): return (x.unsqueeze(1) - x.unsqueeze(0)).abs()
        def ranked(scores): return scores.unsqueeze(1) - scores.unsqueeze(0)
        """,
    ),
    "reductions that keep their axis, or have none": (
        TORCH,
        """
        def f(x, v):
            a = x / x.sum(dim=1, keepdim=True)
            b = x - x.mean(0)
            c = v / v.sum(-1)
            return a, b, c, x / x.max(), x / x.norm()
        """,
    ),
    "an image segmented pixel by pixel": (
        KERAS,
        """
        model = Sequential([layers.Conv2D(8, 3), layers.UpSampling2D(), Dense(3, activation="softmax")])
        model.compile("adam", "categorical_crossentropy")
        """,
    ),
    "a discriminator frozen in another model": (
        KERAS,
        """
        def gan(z, x, y):
            discriminator = Sequential([Dense(1, activation="sigmoid")])
            discriminator.compile("adam", "binary_crossentropy")
            generator = Sequential([Dense(8)])
            discriminator.trainable = False
            noise = keras.Input((4,))
            combined = Model(noise, discriminator(generator(noise)))
            combined.compile("adam", "binary_crossentropy")
            for _ in range(10):
                discriminator.train_on_batch(x, y)
                combined.train_on_batch(z, y)
        """,
    ),
    "a compile after the change": (
        KERAS,
        """
        def fine_tune(x, y):
            model = Sequential([Dense(4), Dense(1)])
            for trainable in (False, True):
                model.layers[0].trainable = trainable
                model.compile("adam", "mse")
                model.fit(x, y)
        """,
    ),
    "a step as a tensor, a signature, a few rounds": (
        TENSORFLOW,
        """
        @tf.function
        def one(x, step):
            return x * step
        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)])
        def two(x, step):
            return x * step
        def train(x):
            for step in range(1000):
                one(x, tf.constant(step))
                two(x, step)
            for fold in range(3):
                one(x, fold)
        """,
    ),
    "functions that depend on the round": (
        JAX,
        """
        def loss(p, scale): return p * scale
        def run(p, scales):
            for scale in scales:
                step = jax.jit(functools.partial(loss, scale=scale))
                step(p)
            step = jax.jit(jax.grad(loss))
            named = jax.jit(loss)
            for scale in scales:
                step(p, scale)
                jax.jit(loss)(p, scale)
        """,
    ),
    "a variable created once": (
        TENSORFLOW,
        """
        class Counter(tf.Module):
            def __init__(self):
                self.count = None
            @tf.function
            def add(self, x):
                if self.count is None:
                    self.count = tf.Variable(0.0)
                return self.count.assign_add(x)
        """,
    ),
    "NumPy on shapes, numbers and the output of a called model": (
        KERAS,
        """
        inputs = keras.Input((28, 28))
        flat = layers.Reshape((np.prod(inputs.shape[1:]),))(inputs)
        model = Model(inputs, Dense(3)(flat))
        def predict(images):
            return np.argmax(model(images), axis=1), np.mean(model.predict(images))
        """,
    ),
    "the output of a called Sequential that begins with its input": (
        KERAS,
        """
        model = Sequential([keras.Input((28,)), Dense(3)])
        def predict(images):
            return np.argmax(model(images), axis=1)
        """,
    ),
    "data sets of one and layers of the other": (
        "",
        """
        import tensorflow as tf
        from keras.datasets import mnist
        from keras.utils import to_categorical
        model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
        """,
    ),
    "one Keras under two names": (
        "",
        """
        import tensorflow as tf
        from tensorflow import keras
        from tensorflow.keras import layers
        model = tf.keras.Sequential([keras.layers.Dense(3), layers.Dense(4)])
        """,
    ),
    "operations made before the loop, sessions made in it": (
        SESSION,
        """
        x = tf.placeholder(tf.float32, [None])
        total = tf.reduce_sum(x)
        with tf.Session() as sess:
            for batch in range(10):
                sess.run(total, {x: [batch]})
        for fold in range(3):
            with tf.Graph().as_default(), tf.Session() as sess:
                sess.run(tf.reduce_sum(tf.ones([fold])))
        """,
    ),
    "variables restored from a checkpoint": (
        SESSION,
        """
        w = tf.Variable(1.0)
        def evaluate(path):
            with tf.Session() as sess:
                tf.train.Saver().restore(sess, path)
                return sess.run(w)
        """,
    ),
    "an initialiser made last": (
        SESSION,
        """
        w = tf.Variable(1.0)
        train = tf.train.AdamOptimizer(0.1).minimize(tf.square(w))
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        sess.run(train)
        """,
    ),
    "accuracy of classes, error of quantities": (
        KERAS,
        """
        classes = Sequential([Dense(3, activation="softmax")])
        classes.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
        price = Sequential([Dense(1)])
        price.compile("adam", "mse", metrics=["mae"])
        """,
    ),
}


@pytest.mark.parametrize(("before", "code", "diagnosis"), BUGS.values(), ids=BUGS.keys())
def test_a_bug_is_found_and_nothing_else_is_alleged(before: str, code: str, diagnosis: str) -> None:
    assert {name for name, _ in findings(before + dedent(code))} == {diagnosis}


@pytest.mark.parametrize(("before", "code"), HEALTHY.values(), ids=HEALTHY.keys())
def test_healthy_code_beside_it_gets_no_finding(before: str, code: str) -> None:
    assert findings(before + dedent(code)) == []


MENDED = {
    "a function": ("def f(x, y): return F.cross_entropy(F.softmax(x, dim=1), y)", "F.cross_entropy(x, y)"),
    "a method": ("def f(x, y): return F.cross_entropy(x.softmax(-1), y)", "F.cross_entropy(x, y)"),
    "a layer in a Sequential": (
        "net = nn.Sequential(nn.Linear(3, 3), nn.Softmax(dim=1))\ndef f(x, y): return F.cross_entropy(net(x), y)",
        "nn.Sequential(nn.Linear(3, 3), nn.Identity())",
    ),
    "a layer called on the spot": (
        "def f(x, y): return F.binary_cross_entropy_with_logits(nn.Sigmoid()(nn.Linear(3, 1)(x)), y)",
        "F.binary_cross_entropy_with_logits(nn.Linear(3, 1)(x), y)",
    ),
    "the dimension": ("def f(x): return F.softmax(x + (1))", "F.softmax(x + (1), dim=-1)"),
    "the dimension of a layer": ("softmax = nn.Softmax()", "nn.Softmax(dim=-1)"),
    "the logarithm": (
        "def f(x, y): return F.nll_loss(F.softmax(x, dim=1), y)",
        "F.nll_loss(F.log_softmax(x, dim=1), y)",
    ),
    "the type of the target": (
        "y = torch.randint(0, 3, (4,))\ndef f(x): return F.cross_entropy(x, y.float())",
        "F.cross_entropy(x, y.long())",
    ),
    "the order": (
        "def f(data, net):\n  for x, y in DataLoader(data): F.binary_cross_entropy(y, 1 + nn.Linear(1, 1)(x))",
        "F.binary_cross_entropy(1 + nn.Linear(1, 1)(x), y)",
    ),
    "what a loss expects": (
        "m = Sequential([Dense(3)])\nm.compile('adam', keras.losses.CategoricalCrossentropy())",
        "keras.losses.CategoricalCrossentropy(from_logits=True)",
    ),
    "what a loss expects, the other way": (
        "m = Sequential([Dense(3, 'softmax')])\nm.compile(loss=keras.losses.CategoricalCrossentropy(from_logits=True))",
        "keras.losses.CategoricalCrossentropy(from_logits=False)",
    ),
    "the name of a loss": (
        "m = Sequential([Dense(3, 'softmax')])\nm.compile('adam', loss='binary_crossentropy')",
        'loss="categorical_crossentropy"',
    ),
    "a metric": (
        "m = Sequential([Dense(1)])\nm.compile('adam', 'mse', metrics=['acc', 'mae'])",
        "metrics=[\"mae\", 'mae']",
    ),
}


@pytest.mark.parametrize(("code", "wanted"), MENDED.values(), ids=MENDED.keys())
def test_a_fix_is_one_expression(code: str, wanted: str) -> None:
    text = (TORCH + KERAS).lstrip("\n") + code + "\n"
    fix = next(fix for finding in examined(text) for fix in finding.fixes if fix.edits)
    mended = editing.apply(text, fix.edits)
    assert mended is not None
    assert wanted in mended


def test_a_string_that_stands_elsewhere_is_not_edited() -> None:
    code = "LOSS = 'binary_crossentropy'\nm = Sequential([Dense(3, 'softmax')])\nm.compile('adam', loss=LOSS)"
    [finding] = examined(KERAS + code)
    assert all(not fix.edits for fix in finding.fixes)


def test_the_story_names_the_softmax_and_the_loss() -> None:
    code = "def f(x, y):\n    p = F.softmax(x, dim=1)\n    return F.cross_entropy(p, y)"
    [finding] = examined(TORCH.lstrip("\n") + code)
    assert finding.place is not None
    assert finding.place.line == 6
    assert [link.place.line for link in finding.chain if link.place is not None] == [6, 7]
