"""The same models in Keras with the weights copied, as they should be and with the usual mistakes."""

from __future__ import annotations

import keras
import numpy as np
from keras import layers, ops


def numbers(tensor):
    return tensor.detach().numpy()


def give(model, name, *weights):
    model.get_layer(name).set_weights([np.array(one) for one in weights])


def cnn(source, epsilon=1e-5, flip=False):
    image = layers.Input((8, 8, 3))
    h = layers.Conv2D(8, 3, padding="same", name="c1")(image)
    h = skip = layers.ReLU(name="r1")(layers.BatchNormalization(epsilon=1e-5, name="b1")(h))
    h = layers.BatchNormalization(epsilon=epsilon, name="b2")(layers.Conv2D(8, 3, padding="same", name="c2")(h))
    h = layers.MaxPooling2D(name="pool")(layers.Add(name="sum")([skip, layers.ReLU(name="r2")(h)]))
    h = layers.Flatten(name="flat")(layers.Permute((3, 1, 2), name="channels_first")(h))
    model = keras.Model(image, layers.Dense(10, name="fc")(h))
    for name in ("c1", "c2"):
        kernel = numbers(getattr(source, name).weight).transpose(2, 3, 1, 0)
        give(model, name, kernel[::-1, ::-1] if flip and name == "c2" else kernel, numbers(getattr(source, name).bias))
    for name in ("b1", "b2"):
        norm = getattr(source, name)
        give(model, name, *map(numbers, (norm.weight, norm.bias, norm.running_mean, norm.running_var)))
    give(model, "fc", numbers(source.fc.weight).T, numbers(source.fc.bias))
    return model


def recurrent(source, kind):
    words = layers.Input((None,), dtype="int64")
    h = layers.Embedding(50, 8, name="e")(words)
    for name in ("r0", "r1"):
        h = kind(12, return_sequences=True, name=name)(h)
    model = keras.Model(words, layers.Dense(5, name="f")(layers.GlobalAveragePooling1D(name="mean")(h)))
    give(model, "e", numbers(source.e.weight))
    give(model, "f", numbers(source.f.weight).T, numbers(source.f.bias))
    # PyTorch keeps a GRU's gates as reset, update, new; Keras as update, reset, new.
    order = [0, 1, 2, 3] if kind is layers.LSTM else [1, 0, 2]
    rows = np.concatenate([np.arange(12 * gate, 12 * gate + 12) for gate in order])
    for level in (0, 1):
        ih, hh, bih, bhh = (
            numbers(getattr(source.r, f"{part}_l{level}"))[rows]
            for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        )
        give(model, f"r{level}", ih.T, hh.T, bih + bhh if kind is layers.LSTM else np.stack([bih, bhh]))
    return model


def gpt(source, epsilon=1e-5, wrong_norm=""):
    def norm(name):
        return layers.LayerNormalization(epsilon=1e-3 if name == wrong_norm else epsilon, name=name)

    words = layers.Input((8,), dtype="int64")
    places = ops.cumsum(ops.ones_like(words), axis=1) - 1
    h = layers.Embedding(50, 16, name="e")(words) + layers.Embedding(8, 16, name="p")(places)
    for k in range(2):
        y = norm(f"n{k}")(h)
        h = h + layers.MultiHeadAttention(4, 4, name=f"a{k}")(y, y, use_causal_mask=True)
        y = layers.Dense(64, name=f"up{k}")(norm(f"m{k}")(h))
        h = h + layers.Dense(16, name=f"down{k}")(ops.gelu(y, approximate=False))
    model = keras.Model(words, layers.Dense(50, use_bias=False, name="h")(norm("f")(h)))
    give(model, "e", numbers(source.e.weight))
    give(model, "p", numbers(source.p.weight))
    for k, block in enumerate(source.blocks):
        give(model, f"n{k}", numbers(block.n.weight), numbers(block.n.bias))
        give(model, f"m{k}", numbers(block.n2.weight), numbers(block.n2.bias))
        kernels, biases = numbers(block.q.weight).reshape(3, 4, 4, 16), numbers(block.q.bias).reshape(3, 4, 4)
        projections = [one for part in range(3) for one in (kernels[part].transpose(2, 0, 1), biases[part])]
        output = numbers(block.o.weight).reshape(16, 4, 4).transpose(1, 2, 0)
        give(model, f"a{k}", *projections, output, numbers(block.o.bias))
        give(model, f"up{k}", numbers(block.up.weight).T, numbers(block.up.bias))
        give(model, f"down{k}", numbers(block.down.weight).T, numbers(block.down.bias))
    give(model, "f", numbers(source.f.weight), numbers(source.f.bias))
    give(model, "h", numbers(source.h.weight).T)
    return model


def ports(models):
    """By a name whose first word is the model's; the rest is the mistake."""
    made = {name: model for name, (model, _) in models.items()}
    yield "cnn", cnn(made["cnn"])
    yield "cnn epsilon", cnn(made["cnn"], epsilon=1e-3)
    yield "cnn flip", cnn(made["cnn"], flip=True)
    yield "lstm", recurrent(made["lstm"], layers.LSTM)
    yield "gru", recurrent(made["gru"], layers.GRU)
    yield "gpt", gpt(made["gpt"])
    yield "gpt epsilon", gpt(made["gpt"], wrong_norm="m1")


class Shared(keras.Model):
    """Subclassed: a layer called twice, a nested one, fused activations, and arithmetic of its own."""

    def __init__(self):
        super().__init__(name="shared")
        self.once = layers.Dense(6, activation="gelu", name="once")
        self.twice = layers.Dense(6, name="twice")
        self.inner = keras.Sequential(
            [layers.Dense(6, name="deep"), layers.LayerNormalization(name="norm")], name="inner"
        )

    def call(self, x):
        h = self.once(x)
        h = self.twice(self.twice(h))
        h = h + self.inner(h)  # the sum
        return ops.tanh(h) * 0.5
