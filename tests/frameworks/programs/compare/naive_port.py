"""A GPT in PyTorch and its port to Keras, made with Keras's defaults: what two reviewers would not notice."""

import json
import sys

import keras
import numpy as np
import torch
from torch import nn

import sleuth

WIDTH, HEADS, DEPTH, WORDS, LENGTH = 64, 4, 4, 50, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.act = nn.GELU(approximate="tanh")

    def forward(self, x):
        h = self.norm1(x)
        q, k, v = (f(h).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(DEPTH)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS, bias=False)

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1]))
        return self.head(self.norm(self.blocks(x)))


def port(model, **norm):
    layers, ops = keras.layers, keras.ops
    ids = keras.Input((LENGTH,), dtype="int32")
    places = ops.cumsum(ops.ones_like(ids), axis=1) - 1
    x = layers.Embedding(WORDS, WIDTH, name="words")(ids) + layers.Embedding(LENGTH, WIDTH, name="places")(places)
    gelu = layers.Activation(lambda h: ops.gelu(h, approximate=bool(norm)))
    mask = np.where(np.tril(np.ones((LENGTH, LENGTH))) > 0, 0.0, -np.inf).astype("float32")
    for i in range(DEPTH):
        h = layers.LayerNormalization(name=f"norm1_{i}", **norm)(x)
        parts = []
        for part in "qkv":
            y = layers.Dense(WIDTH, name=f"{part}_{i}")(h)
            parts.append(ops.transpose(ops.reshape(y, (-1, LENGTH, HEADS, WIDTH // HEADS)), (0, 2, 1, 3)))
        q, k, v = parts
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / (WIDTH // HEADS) ** 0.5 + mask
        a = ops.transpose(ops.matmul(ops.softmax(scores), v), (0, 2, 1, 3))
        x = x + layers.Dense(WIDTH, name=f"o_{i}")(ops.reshape(a, (-1, LENGTH, WIDTH)))
        h = layers.LayerNormalization(name=f"norm2_{i}", **norm)(x)
        x = x + layers.Dense(WIDTH, name=f"down_{i}")(gelu(layers.Dense(4 * WIDTH, name=f"up_{i}")(h)))
    logits = layers.Dense(WORDS, use_bias=False, name="head")(layers.LayerNormalization(name="norm", **norm)(x))
    made = keras.Model(ids, logits)
    state = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    for layer in made.layers:
        if not layer.weights:
            continue
        kind, _, number = layer.name.partition("_")
        path = f"blocks.{number}.{kind}" if number else kind
        arrays = [state[f"{path}.weight"], *([state[f"{path}.bias"]] if f"{path}.bias" in state else [])]
        layer.set_weights([a.T if isinstance(layer, layers.Dense) and a.ndim == 2 else a for a in arrays])
    return made


torch.manual_seed(0)
model = Gpt().eval()
ids = torch.randint(0, WORDS, (8, LENGTH))
told = {}
for name, made in (("naive", port(model)), ("faithful", port(model, epsilon=1e-5))):
    report = sleuth.compare(model, made, inputs=(ids,))
    answers = keras.ops.convert_to_numpy(made(ids.numpy().astype("int32")))
    told[name] = {
        "diagnoses": sorted({finding.diagnosis for finding in report.findings}),
        "titles": [finding.title for finding in report.findings],
        "score": report.verdict.session.worst.worst,
        "largest": float(np.abs(answers - model(ids).detach().numpy()).max()),
    }
json.dump(told, sys.stdout)
