"""The cases of the four studies that source code shows, re-written in today's words: each is found at its line.

A line that is marked `# here` is where the finding must stand.
"""

from __future__ import annotations

import textwrap

import pytest
from snippets import examined

CASES: dict[str, tuple[set[str], str]] = {
    "35138131 conv, flatten, linear": (
        {"flatten-linear-mismatch"},
        """
        import torch
        import torch.nn as nn
        import torch.nn.functional as F

        class LeNet(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv1 = nn.Conv2d(1, 6, 5)
                self.pool = nn.MaxPool2d(2, 2)
                self.conv2 = nn.Conv2d(6, 16, 5)
                self.fc1 = nn.Linear(16 * 5 * 5, 120)
                self.fc2 = nn.Linear(120, 10)

            def forward(self, x):
                x = self.pool(F.relu(self.conv1(x)))
                x = self.pool(F.relu(self.conv2(x)))
                x = torch.flatten(x, 1)
                x = F.relu(self.fc1(x))  # here
                return self.fc2(x)

        net = LeNet()
        images = torch.randn(8, 1, 28, 28)
        print(net(images).shape)
        """,
    ),
    "40192728 zero times log of zero": (
        {"log-of-zero", "log-of-softmax"},
        """
        import tensorflow as tf

        def loss_fn(labels, logits):
            probabilities = tf.nn.softmax(logits)
            return -tf.reduce_sum(labels * tf.math.log(probabilities))  # here
        """,
    ),
    "46704352 hidden state left on the CPU": (
        {"tensor-on-cpu-in-forward"},
        """
        import torch
        from torch import nn

        class Tagger(nn.Module):
            def __init__(self, vocabulary, hidden):
                super().__init__()
                self.hidden = hidden
                self.embed = nn.Embedding(vocabulary, hidden)
                self.lstm = nn.LSTM(hidden, hidden)
                self.out = nn.Linear(hidden, 9)

            def forward(self, words):
                h = torch.zeros(1, words.size(1), self.hidden)  # here
                c = torch.zeros(1, words.size(1), self.hidden)
                output, _ = self.lstm(self.embed(words), (h, c))
                return self.out(output)

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        model = Tagger(5000, 64).to(device)
        """,
    ),
    "34743847 a learning rate for another optimiser": (
        {"learning-rate-too-high"},
        """
        import torch
        from torch import nn

        model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.5)  # here
        """,
    ),
    "35274405 a graph that grows in the loop": (
        {"graph-built-in-loop"},
        """
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32, [None, 4])
        w = tf.Variable(tf.zeros([4, 1]))
        y = tf.matmul(x, w)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for batch in batches():
                loss = tf.reduce_mean(tf.square(y - batch[1]))  # here
                print(session.run(loss, {x: batch[0]}))
        """,
    ),
    "34240703 softmax, then a loss that has its own": (
        {"softmax-before-cross-entropy"},
        """
        import tensorflow as tf

        def loss_of(x, w, b, labels):
            prediction = tf.nn.softmax(tf.matmul(x, w) + b)  # here
            return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=prediction)
        """,
    ),
    "46513276 gradients of every round added up": (
        {"missing-zero-grad"},
        """
        import torch

        net = torch.nn.Linear(3, 1)
        criterion = torch.nn.MSELoss()
        opt = torch.optim.SGD(net.parameters(), lr=0.01)

        def fit(x, y):
            for epoch in range(100):
                out = net(x)
                loss = criterion(out, y)
                loss.backward()  # here
                opt.step()
        """,
    ),
    "33788989 variables that nobody initialised": (
        {"variables-not-initialised"},
        """
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32, [None, 2])
        w = tf.Variable(tf.random_normal([2, 1]))
        y = tf.matmul(x, w)
        with tf.Session() as sess:
            print(sess.run(y, feed_dict={x: [[1.0, 2.0]]}))  # here
        """,
    ),
    "36007883 the optimiser's own variables": (
        {"variables-not-initialised"},
        """
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
        w = tf.Variable(1.0)
        loss = tf.square(w - 3.0)
        sess = tf.Session()
        sess.run(tf.global_variables_initializer())
        train = tf.train.AdamOptimizer(0.01).minimize(loss)
        for _ in range(100):
            sess.run(train)  # here
        """,
    ),
    "44351506 numpy of a tensor on the GPU": (
        {"numpy-of-cuda-tensor", "numpy-of-grad-tensor"},
        """
        import torch
        from torch import nn

        model = nn.Linear(3, 2).cuda()
        x = torch.randn(5, 3).cuda()
        with torch.no_grad():
            prediction = model(x)
        print(prediction.numpy())  # here
        """,
    ),
    "37914647 a cross-entropy for a regression": (
        {"cross-entropy-for-regression", "one-unit-softmax"},
        """
        from keras.models import Sequential
        from keras.layers import Dense

        model = Sequential()
        model.add(Dense(16, input_dim=4, activation="relu"))
        model.add(Dense(1))
        model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])  # here
        """,
    ),
    "frombuffer gives an array": (
        {"frombuffer-is-array"},
        """
        import gzip
        import numpy as np

        def read32(stream):
            return np.frombuffer(stream.read(4), dtype=np.dtype(np.uint32).newbyteorder(">"))

        def images(path):
            with gzip.open(path) as stream:
                read32(stream)
                count = read32(stream)
                rows = read32(stream)
                columns = read32(stream)
                data = stream.read(rows * columns * count)  # here
                return np.frombuffer(data, dtype=np.uint8)
        """,
    ),
    "nb_epoch is epochs": (
        {"renamed-argument"},
        """
        from keras.models import Sequential
        from keras.layers import Dense

        model = Sequential([Dense(10, activation="relu"), Dense(1, activation="sigmoid")])
        model.compile(loss="binary_crossentropy", optimizer="adam")
        model.fit(x, y, nb_epoch=10, batch_size=32)  # here
        """,
    ),
    "37817588 an embedding one row short": (
        {"embedding-too-small"},
        """
        from keras.layers import Dense, Embedding, LSTM
        from keras.models import Sequential
        from keras.preprocessing.text import Tokenizer

        tokenizer = Tokenizer()
        tokenizer.fit_on_texts(texts)
        vocabulary = len(tokenizer.word_index)
        model = Sequential()
        model.add(Embedding(vocabulary, 64, input_length=100))  # here
        model.add(LSTM(32))
        model.add(Dense(1, activation="sigmoid"))
        """,
    ),
    "42353676 an image in [0, 1] cast to bytes is black": (
        {"image-cast-to-uint8"},
        """
        import numpy as np
        from PIL import Image

        def show(generator, noise):
            image = generator(noise).sigmoid().detach().cpu().numpy()[0]
            Image.fromarray(image.astype(np.uint8)).show()  # here
        """,
    ),
    "a NumPy function inside a symbolic graph": (
        {"numpy-in-symbolic-graph"},
        """
        import numpy as np
        from tensorflow import keras

        inputs = keras.Input((4,))
        hidden = keras.layers.Dense(8)(inputs)
        scaled = np.log(hidden)  # here
        model = keras.Model(inputs, keras.layers.Dense(1)(scaled))
        """,
    ),
    "lgamma without an epsilon": (
        {"gamma-at-pole"},
        """
        import torch
        import torch.nn.functional as F

        def dirichlet_loss(evidence):
            alpha = F.relu(evidence)
            return torch.lgamma(alpha).sum()  # here
        """,
    ),
    "reduce_sum without keepdims broadcasts the loss": (
        {"loss-broadcast"},
        """
        import torch
        from torch import nn

        class Regressor(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(6, 1)

            def forward(self, x):
                return self.body(x)

        x = torch.randn(64, 6)
        y = x.sum(dim=1)
        model = Regressor()
        loss = nn.functional.mse_loss(model(x), y)  # here
        """,
    ),
    "a mask of -1e30 in half precision": (
        {"half-precision-overflow"},
        """
        import torch

        def attention(q, k, v, mask):
            scores = (q.half() @ k.half().transpose(-2, -1)) / 8.0
            scores = scores.masked_fill(mask == 0, -1e30)  # here
            return torch.softmax(scores, dim=-1) @ v.half()
        """,
    ),
}


@pytest.mark.parametrize(("wanted", "code"), CASES.values(), ids=CASES.keys())
def test_a_case_of_the_studies_is_found_at_its_line(wanted: set[str], code: str) -> None:
    text = textwrap.dedent(code).lstrip("\n")
    line = next(number for number, one in enumerate(text.splitlines(), 1) if "# here" in one)
    named = {(f.diagnosis, f.place.line) for f in examined(text) if f.place is not None}
    assert named & {(diagnosis, line) for diagnosis in wanted}, named
