"""The same networks in Keras, as a person would write them: channels last, of its layers and of its operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import keras
from keras import layers, ops

from compare.networks import CLASSES, HEADS, VOCABULARY

WIDTH = 32
_BATCH_NORM = {"epsilon": 1e-5}


class Port:
    """One port in the making, with or without faults, all of them by the name that the layer has in PyTorch.

    `changes` are other settings for layers, `wires` other second operands for sums and joins, `masks` how far a causal
    mask is moved, `skips` layers that are left out, `swaps` joins whose operands change places."""

    def __init__(
        self,
        changes: Mapping[str, Mapping[str, Any]] | None = None,
        wires: Mapping[str, str] | None = None,
        masks: Mapping[str, int] | None = None,
        skips: Collection[str] = (),
        swaps: Collection[str] = (),
    ) -> None:
        self.changes = changes or {}
        self.wires = wires or {}
        self.masks = masks or {}
        self.skips, self.swaps = skips, swaps
        self.made: dict[str, dict[str, Any]] = {}
        self.values: dict[str, Any] = {}
        # What could be read instead, at each join: the names of earlier values of the right one's shape.
        self.joins: dict[str, list[str]] = {}
        self.masked: list[str] = []
        self._shared: dict[str, Any] = {}

    def layer(self, kind: Any, name: str, **settings: Any) -> Any:
        if name not in self._shared:
            self.made[name] = {"kind": kind, **settings}
            self._shared[name] = kind(**{**settings, **self.changes.get(name, {})}, name=keras_name(name))
        layer = self._shared[name]

        def call(*inputs: Any, **named: Any) -> Any:
            return self.keep(name, inputs[0] if name in self.skips else layer(*inputs, **named))

        return call

    def keep(self, name: str, value: Any) -> Any:
        self.values.setdefault(name, value)
        return value

    def second(self, name: str, right: Any) -> Any:
        """What comes second into a sum: the right value, or an earlier one of the same shape."""
        self.joins[name] = [
            one for one, value in self.values.items() if value is not right and value.shape == right.shape
        ]
        return self.values[self.wires[name]] if name in self.wires else right

    def add(self, name: str, a: Any, b: Any) -> Any:
        return self.keep(name, layers.Add(name=keras_name(name))([a, self.second(name, b)]))

    def cat(self, name: str, a: Any, b: Any) -> Any:
        both = [a, self.second(name, b)]
        return self.keep(name, layers.Concatenate(name=keras_name(name))(both[::-1] if name in self.swaps else both))

    def blocked(self, name: str, length: int, seen: int) -> Any:
        """What a causal mask hides."""
        self.masked.append(name)
        return ops.arange(seen)[None, :] > ops.arange(length)[:, None] + self.masks.get(name, 0)


def keras_name(name: str) -> str:
    return name.replace(".", "_")


def _conv(p: Port, name: str, filters: int, size: int, stride: int = 1, bias: bool = True) -> Callable[[Any], Any]:
    """PyTorch's padding of one on every side is `same` only without strides."""
    if stride > 1 and size > 1:
        pad = p.layer(layers.ZeroPadding2D, f"{name}.pad", padding=1)
        conv = p.layer(layers.Conv2D, name, filters=filters, kernel_size=size, strides=stride, use_bias=bias)
        return lambda x: conv(pad(x))
    return p.layer(  # type: ignore[no-any-return]
        layers.Conv2D, name, filters=filters, kernel_size=size, strides=stride, padding="same", use_bias=bias
    )


def _residual(p: Port, name: str, x: Any, filters: int, stride: int) -> Any:
    h = _conv(p, f"{name}.conv1", filters, 3, stride, bias=False)(x)
    h = p.layer(layers.BatchNormalization, f"{name}.bn1", **_BATCH_NORM)(h)
    h = p.layer(layers.Activation, f"{name}.act1", activation="relu")(h)
    h = _conv(p, f"{name}.conv2", filters, 3, bias=False)(h)
    h = p.layer(layers.BatchNormalization, f"{name}.bn2", **_BATCH_NORM)(h)
    kept = x if stride == 1 else _conv(p, f"{name}.short", filters, 1, stride)(x)
    h = p.add(f"{name}.add", h, kept)
    return p.layer(layers.Activation, f"{name}.act2", activation="relu")(h)


def resnet(p: Port) -> Any:
    image = keras.Input((16, 16, 3), name="image")
    h = p.layer(layers.Normalization, "scaling", mean=[0.485, 0.456, 0.406], variance=[0.229**2, 0.224**2, 0.225**2])(
        image
    )
    h = _conv(p, "stem", 12, 3)(h)
    h = p.layer(layers.BatchNormalization, "bn", **_BATCH_NORM)(h)
    h = p.layer(layers.Activation, "act", activation="relu")(h)
    h = p.layer(layers.MaxPooling2D, "pool", pool_size=2)(h)
    for number, (filters, stride) in enumerate(((12, 1), (16, 2), (16, 1))):
        h = _residual(p, f"stages.{number}", h, filters, stride)
    h = p.layer(layers.AveragePooling2D, "average", pool_size=2)(h)
    h = p.layer(layers.Flatten, "flatten")(h)
    return keras.Model(image, p.layer(layers.Dense, "head", units=CLASSES)(h), name="resnet")


def bilstm(p: Port) -> Any:
    tokens = keras.Input((12,), dtype="int64", name="tokens")
    h = p.layer(layers.Embedding, "words", input_dim=VOCABULARY, output_dim=16)(tokens)
    h = _bidirectional(p, "lstm1")(h)
    h = p.layer(layers.LayerNormalization, "norm", epsilon=1e-5)(h)
    h = _bidirectional(p, "lstm2")(h)
    h = layers.GlobalAveragePooling1D(name="mean")(h)
    return keras.Model(tokens, p.layer(layers.Dense, "head", units=CLASSES)(h), name="bilstm")


def _bidirectional(p: Port, name: str) -> Any:
    inner = {"units": 12, "return_sequences": True, **p.changes.get(f"{name}.inner", {})}
    p.made[f"{name}.inner"] = {"kind": layers.LSTM, **inner}
    return p.layer(layers.Bidirectional, name, layer=layers.LSTM(**inner, name=f"{name}_inner"))


def gru(p: Port) -> Any:
    tokens = keras.Input((12,), dtype="int64", name="tokens")
    h = p.layer(layers.Embedding, "words", input_dim=VOCABULARY, output_dim=16)(tokens)
    h = p.layer(layers.GRU, "gru1", units=20, return_sequences=True)(h)
    h = p.layer(layers.GRU, "gru2", units=20)(h)
    h = p.layer(layers.Dense, "hidden", units=20)(h)
    h = p.layer(layers.Activation, "act", activation="elu")(h)
    return keras.Model(tokens, p.layer(layers.Dense, "head", units=CLASSES)(h), name="gru")


def _split(h: Any, width: int) -> Any:
    return ops.transpose(ops.reshape(h, (-1, h.shape[1], HEADS, width // HEADS)), (0, 2, 1, 3))


def _merged(h: Any, width: int) -> Any:
    return ops.reshape(ops.transpose(h, (0, 2, 1, 3)), (-1, h.shape[2], width))


def _attention(p: Port, name: str, x: Any, memory: Any, causal: bool) -> Any:
    """Of operations in a functional model."""
    q = _split(p.layer(layers.Dense, f"{name}.q", units=WIDTH)(x), WIDTH)
    k = _split(p.layer(layers.Dense, f"{name}.k", units=WIDTH)(memory), WIDTH)
    v = _split(p.layer(layers.Dense, f"{name}.v", units=WIDTH)(memory), WIDTH)
    scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / math.sqrt(WIDTH // HEADS)
    if causal:
        scores = ops.where(p.blocked(name, x.shape[1], memory.shape[1]), -1e9, scores)
    h = ops.matmul(ops.softmax(scores, axis=-1), v)
    return p.layer(layers.Dense, f"{name}.out", units=WIDTH)(_merged(h, WIDTH))


@keras.saving.register_keras_serializable("compare")
class SelfAttention(layers.Layer):  # type: ignore[misc]
    """Of operations in a layer of one's own. The causal mask is off by `moved`, the scores are over `scale`."""

    def __init__(self, width: int, moved: int = 0, scale: float = 1.0, **settings: Any) -> None:
        super().__init__(**settings)
        self.width, self.moved, self.scale = width, moved, scale
        self.q = layers.Dense(width, name="q")
        self.k = layers.Dense(width, name="k")
        self.v = layers.Dense(width, name="v")
        self.out = layers.Dense(width, name="out")

    def build(self, shape: Any) -> None:
        for one in (self.q, self.k, self.v, self.out):
            one.build(shape)

    def call(self, x: Any) -> Any:
        q, k, v = (_split(one(x), self.width) for one in (self.q, self.k, self.v))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / (math.sqrt(self.width // HEADS) * self.scale)
        length = x.shape[1]
        hidden = ops.arange(length)[None, :] > ops.arange(length)[:, None] + self.moved
        h = ops.matmul(ops.softmax(ops.where(hidden, -1e9, scores), axis=-1), v)
        return self.out(_merged(h, self.width))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "width": self.width, "moved": self.moved, "scale": self.scale}


def _gelu_tanh(x: Any) -> Any:
    return ops.gelu(x, approximate=True)


def _gelu(x: Any) -> Any:
    return ops.gelu(x, approximate=False)


def _mlp(p: Port, name: str, x: Any, activation: Any, apart: bool) -> Any:
    """The activation as a layer of its own, or as a setting of the first one."""
    if apart:
        h = p.layer(layers.Dense, f"{name}.up", units=2 * WIDTH)(x)
        h = p.layer(layers.Activation, f"{name}.act", activation=activation)(h)
    else:
        h = p.layer(layers.Dense, f"{name}.up", units=2 * WIDTH, activation=activation)(x)
    return p.layer(layers.Dense, f"{name}.down", units=WIDTH)(h)


def _norm(p: Port, name: str, epsilon: float = 1e-5) -> Any:
    return p.layer(layers.LayerNormalization, name, epsilon=epsilon)


def _placed(p: Port, name: str, tokens: Any) -> Any:
    x = p.layer(layers.Embedding, "words", input_dim=VOCABULARY, output_dim=WIDTH)(tokens)
    at = ops.zeros_like(tokens) + ops.arange(tokens.shape[1], dtype="int64")
    place = p.layer(layers.Embedding, "places", input_dim=16, output_dim=WIDTH)(at)
    return p.add(name, x, place)


def gpt(p: Port) -> Any:
    tokens = keras.Input((12,), dtype="int64", name="tokens")
    x = _placed(p, "add0", tokens)
    for number in range(3):
        name = f"blocks.{number}"
        h = _norm(p, f"{name}.ln1")(x)
        h = _attention(p, f"{name}.attention", h, h, causal=True)
        x = p.add(f"{name}.add0", x, h)
        h = _mlp(p, f"{name}.mlp", _norm(p, f"{name}.ln3")(x), _gelu_tanh, apart=True)
        x = p.add(f"{name}.add1", x, h)
    h = p.layer(layers.Dense, "head", units=VOCABULARY, use_bias=False)(_norm(p, "norm")(x))
    return keras.Model(tokens, h, name="gpt")


def gpt_sdpa(p: Port) -> Any:
    tokens = keras.Input((12,), dtype="int64", name="tokens")
    x = _placed(p, "add0", tokens)
    for number in range(3):
        name = f"blocks.{number}"
        h = _norm(p, f"{name}.ln1")(x)
        h = p.layer(SelfAttention, f"{name}.attention", width=WIDTH)(h)
        x = p.add(f"{name}.add0", x, h)
        h = _mlp(p, f"{name}.mlp", _norm(p, f"{name}.ln3")(x), _gelu, apart=False)
        x = p.add(f"{name}.add1", x, h)
    h = p.layer(layers.Dense, "head", units=VOCABULARY, use_bias=False)(_norm(p, "norm")(x))
    return keras.Model(tokens, h, name="gpt_sdpa")


def encoder_decoder(p: Port) -> Any:
    source = keras.Input((9,), dtype="int64", name="source")
    target = keras.Input((12,), dtype="int64", name="target")
    x = _block(p, "encoder.0", _placed(p, "add0", source), causal=False)
    memory = _norm(p, "norm")(x)
    y = _placed(p, "add1", target)
    for number in range(2):
        y = _block(p, f"decoder.{number}", y, causal=True, memory=memory)
    h = p.layer(layers.Dense, "head", units=VOCABULARY)(_norm(p, "last")(y))
    return keras.Model([source, target], h, name="encoder_decoder")


def _block(p: Port, name: str, x: Any, causal: bool, memory: Any = None) -> Any:
    h = _norm(p, f"{name}.ln1")(x)
    x = p.add(f"{name}.add0", x, _attention(p, f"{name}.attention", h, h, causal))
    if memory is not None:
        h = _attention(p, f"{name}.cross", _norm(p, f"{name}.ln2")(x), memory, False)
        x = p.add(f"{name}.add1", x, h)
    h = _mlp(p, f"{name}.mlp", _norm(p, f"{name}.ln3")(x), "silu", apart=True)
    return p.add(f"{name}.add{2 if memory is not None else 1}", x, h)


@keras.saving.register_keras_serializable("compare")
class ClassToken(layers.Layer):  # type: ignore[misc]
    """A learnt first place, and where each place is."""

    def build(self, shape: Any) -> None:
        self.cls = self.add_weight(shape=(1, 1, shape[-1]), name="cls")
        self.places = self.add_weight(shape=(1, shape[1] + 1, shape[-1]), name="places")

    def call(self, x: Any) -> Any:
        first = ops.repeat(self.cls, ops.shape(x)[0], axis=0)
        return ops.concatenate([ops.cast(first, x.dtype), x], axis=1) + ops.cast(self.places, x.dtype)


def vit(p: Port) -> Any:
    image = keras.Input((16, 16, 3), name="image")
    h = p.layer(layers.Conv2D, "patches", filters=WIDTH, kernel_size=4, strides=4)(image)
    h = layers.Reshape((16, WIDTH), name="sequence")(h)
    h = p.layer(ClassToken, "places")(h)
    for number in range(2):
        name = f"blocks.{number}"
        n = _norm(p, f"{name}.ln1", 1e-6)(h)
        attended = p.layer(layers.MultiHeadAttention, f"{name}.attention", num_heads=HEADS, key_dim=WIDTH // HEADS)(
            n, n
        )
        h = p.add(f"{name}.add0", h, attended)
        h = p.add(f"{name}.add1", h, _mlp(p, f"{name}.mlp", _norm(p, f"{name}.ln2", 1e-6)(h), _gelu, apart=False))
    h = _norm(p, "norm", 1e-6)(h)[:, 0]
    return keras.Model(image, p.layer(layers.Dense, "head", units=CLASSES)(h), name="vit")


def _convolved(p: Port, name: str, x: Any, filters: int) -> Any:
    h = _conv(p, f"{name}.conv", filters, 3)(x)
    h = p.layer(layers.BatchNormalization, f"{name}.bn", **_BATCH_NORM)(h)
    return p.layer(layers.LeakyReLU, f"{name}.act", negative_slope=0.1)(h)


def unet(p: Port) -> Any:
    image = keras.Input((16, 16, 3), name="image")
    fine = _convolved(p, "down1", image, 8)
    coarse = _convolved(p, "down2", p.layer(layers.MaxPooling2D, "pool1", pool_size=2)(fine), 12)
    h = p.layer(layers.ZeroPadding2D, "pool2.pad", padding=1)(coarse)
    h = p.layer(layers.AveragePooling2D, "pool2", pool_size=3, strides=2)(h)
    h = _convolved(p, "middle", h, 16)
    h = p.layer(layers.Conv2DTranspose, "up2", filters=12, kernel_size=2, strides=2)(h)
    h = _convolved(p, "join2", p.cat("cat0", h, coarse), 12)
    h = p.layer(layers.UpSampling2D, "up1", size=2, interpolation="bilinear")(h)
    h = _convolved(p, "join1", p.cat("cat1", h, fine), 8)
    return keras.Model(image, p.layer(layers.Conv2D, "head", filters=2, kernel_size=1)(h), name="unet")


PORTS: dict[str, Callable[[Port], Any]] = {
    "resnet": resnet,
    "bilstm": bilstm,
    "gru": gru,
    "encoder-decoder": encoder_decoder,
    "gpt": gpt,
    "gpt-sdpa": gpt_sdpa,
    "vit": vit,
    "unet": unet,
}
