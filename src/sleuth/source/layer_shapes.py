"""The shape a layer gives: the arithmetic of convolution, pooling and flattening, from the layer's literal options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, floor, prod
from typing import Final

from sleuth.source.operations import OF_LAYER
from sleuth.source.values import Value

Shape = tuple[int | None, ...]
Options = Mapping[str, Value]
# The name under which `**options` of a call stand, of which nothing is known.
UNKNOWN_OPTIONS: Final = "**"


def of_layer(layer: Value, shape: Shape | None) -> Shape | None:
    """The shape behind a layer, given that before it."""
    if UNKNOWN_OPTIONS in layer.options:
        return None
    rule = _RULES.get(layer.api)
    if rule is not None:
        return rule(layer, shape)
    return shape if OF_LAYER.get(layer.api, "") in _LEAVE_THE_SHAPE else None


def last_size_behind(layer: Value) -> int | None:
    """The size of the last axis behind a Linear, an Embedding or an LSTM."""
    if UNKNOWN_OPTIONS in layer.options:
        return None
    if layer.api == "torch.nn.Linear":
        return whole(layer.option("1", "out_features"))
    if layer.api == "torch.nn.Embedding":
        return whole(layer.option("1", "embedding_dim"))
    return _hidden_size(layer) if layer.api in _RECURRENT else None


def spatial_axes(layer: Value) -> int:
    """How many axes a convolution, pooling or batch normalisation is over, from its name."""
    return int(layer.api[-2]) if layer.api[-2:-1].isdigit() else 0


def whole(value: Value | None) -> int | None:
    """The whole number a value is."""
    const = None if value is None else value.const
    return const if isinstance(const, int) and not isinstance(const, bool) else None


def numbers(value: Value | None, count: int, default: int | None) -> list[int | None]:
    """An option given once or for each axis: 3, (3, 3) or nothing."""
    if value is None:
        return [default] * count
    if value.kind == "sequence":
        parts = value.parts if value.exact else None
        if parts is None or len(parts) not in (1, count):
            return [None] * count
        return [whole(part) for part in parts] * (count // len(parts))
    return [whole(value)] * count


def flattened(shape: Shape | None, start: int, end: int) -> Shape | None:
    """Axes `start` to `end` made into one."""
    if shape is None:
        return (None,) * (start + 1) if start >= 0 and end == -1 else None
    rank = len(shape)
    if not -rank <= start < rank or not -rank <= end < rank:
        return None
    first, last = start % rank, end % rank
    inner = shape[first : last + 1]
    size = None if None in inner else prod(one for one in inner if one is not None)
    return (*shape[:first], size, *shape[last + 1 :])


def pooled(options: Options, shape: Shape, count: int) -> Shape | None:
    """Behind a pooling with these options over the last `count` axes."""
    rounded_up = _option(options, "5", "ceil_mode")
    if len(shape) < count or (rounded_up is not None and rounded_up.const is not False):
        return None
    kernel = numbers(_option(options, "0", "kernel_size"), count, None)
    stride = _option(options, "1", "stride")
    strides = kernel if stride is None or stride.kind == "none" else numbers(stride, count, None)
    padding = numbers(_option(options, "2", "padding"), count, 0)
    dilation = numbers(_option(options, "3", "dilation"), count, 1)
    axes = zip(shape[-count:], kernel, strides, padding, dilation, strict=True)
    return (*shape[:-count], *(_slid(size, k, s, p, d) for size, k, s, p, d in axes))


def pooled_to(size: Value | None, shape: Shape, count: int) -> Shape | None:
    """Behind an adaptive pooling to a size over the last `count` axes."""
    if len(shape) < count:
        return None
    asked = size.parts if size is not None and size.kind == "sequence" and size.exact else [size] * count
    if asked is None or len(asked) != count:
        return None
    sizes = [
        old if one is not None and one.kind == "none" else whole(one)
        for one, old in zip(asked, shape[-count:], strict=True)
    ]
    return (*shape[:-count], *sizes)


def resized(options: Options, shape: Shape) -> Shape:
    """Behind an upsampling by `size` or `scale_factor`."""
    count = len(shape) - 2
    size, scale = _option(options, "0", "size"), _option(options, "1", "scale_factor")
    if size is not None and size.kind != "none":
        return (*shape[:2], *numbers(size, count, None))
    if scale is None or scale.kind == "sequence" or scale.number() is None:
        return (*shape[:2], *(None,) * count)
    factor = scale.number() or 0
    return (*shape[:2], *(None if one is None else floor(one * factor) for one in shape[2:]))


def _option(options: Options, *names: str) -> Value | None:
    return next((options[name] for name in names if name in options), None)


def _slid(
    size: int | None, kernel: int | None, stride: int | None, padding: int | None, dilation: int | None
) -> int | None:
    """How many places a window has along an axis."""
    if size is None or kernel is None or stride is None or padding is None or dilation is None or stride < 1:
        return None
    places = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return places if places > 0 else None


def _linear(layer: Value, shape: Shape | None) -> Shape | None:
    return None if not shape else (*shape[:-1], whole(layer.option("1", "out_features")))


def _convolved(layer: Value, shape: Shape | None) -> Shape | None:
    count = spatial_axes(layer)
    channels = whole(layer.option("1", "out_channels"))
    if shape is None:
        # Without a batch axis it would be one fewer, which hardly anybody writes.
        return (None, channels, *(None,) * count)
    if len(shape) not in (count + 1, count + 2):
        return None
    kernel = numbers(layer.option("2", "kernel_size"), count, None)
    strides = numbers(layer.option("3", "stride"), count, 1)
    dilation = numbers(layer.option("5", "dilation"), count, 1)
    given = layer.option("4", "padding")
    if given is not None and given.const == "same":
        return (*shape[: -count - 1], channels, *shape[-count:])
    padding = [0] * count if given is not None and given.const == "valid" else numbers(given, count, 0)
    axes = zip(shape[-count:], kernel, strides, padding, dilation, strict=True)
    return (*shape[: -count - 1], channels, *(_slid(size, k, s, p, d) for size, k, s, p, d in axes))


def _convolved_back(layer: Value, shape: Shape | None) -> Shape | None:
    count = spatial_axes(layer)
    channels = whole(layer.option("1", "out_channels"))
    if shape is None:
        return (None, channels, *(None,) * count)
    if len(shape) not in (count + 1, count + 2):
        return None
    options = [
        numbers(layer.option(*names), count, default)
        for names, default in (
            (("2", "kernel_size"), None),
            (("3", "stride"), 1),
            (("4", "padding"), 0),
            (("5", "output_padding"), 0),
            (("8", "dilation"), 1),
        )
    ]
    sizes: list[int | None] = []
    for size, k, s, p, o, d in zip(shape[-count:], *options, strict=True):
        if size is None or k is None or s is None or p is None or o is None or d is None:
            sizes.append(None)
        else:
            sizes.append((size - 1) * s - 2 * p + d * (k - 1) + o + 1)
    return (*shape[: -count - 1], channels, *sizes)


def _pool(layer: Value, shape: Shape | None) -> Shape | None:
    options = layer.options
    if "Avg" in layer.api:
        # AvgPool2d(kernel, stride, padding, ceil_mode): its fourth is no dilation.
        rounded_up = _option(options, "3", "ceil_mode")
        if rounded_up is not None and rounded_up.const is not False:
            return None
        options = {name: value for name, value in options.items() if name not in ("3", "5")}
    return None if shape is None else pooled(options, shape, spatial_axes(layer))


def _adaptive(layer: Value, shape: Shape | None) -> Shape | None:
    return None if shape is None else pooled_to(layer.option("0", "output_size"), shape, spatial_axes(layer))


def _flatten(layer: Value, shape: Shape | None) -> Shape | None:
    first, last = layer.option("0", "start_dim"), layer.option("1", "end_dim")
    start, end = (1 if first is None else whole(first)), (-1 if last is None else whole(last))
    return None if start is None or end is None else flattened(shape, start, end)


def _batch_norm(layer: Value, shape: Shape | None) -> Shape | None:
    count = spatial_axes(layer)
    if shape is not None or count < 2:
        return shape
    return (None, whole(layer.option("0", "num_features")), *(None,) * count)


def _embedding(layer: Value, shape: Shape | None) -> Shape | None:
    return None if shape is None else (*shape, whole(layer.option("1", "embedding_dim")))


def _upsample(layer: Value, shape: Shape | None) -> Shape | None:
    return None if shape is None or len(shape) < 3 else resized(layer.options, shape)


def _hidden_size(layer: Value) -> int | None:
    hidden, both = whole(layer.option("1", "hidden_size")), layer.option("bidirectional")
    if (
        hidden is None
        or layer.option("proj_size") is not None
        or (both is not None and both.const not in (True, False))
    ):
        return None
    return hidden * (2 if both is not None and both.const else 1)


def _recurrent(layer: Value, shape: Shape | None) -> Shape | None:
    return (None, None, _hidden_size(layer)) if shape is None else (*shape[:-1], _hidden_size(layer))


def _cell(layer: Value, shape: Shape | None) -> Shape | None:
    return None if shape is None else (*shape[:-1], whole(layer.option("1", "hidden_size")))


def _padded(layer: Value, shape: Shape | None) -> Shape | None:
    if shape is None or len(shape) < 3:
        return None
    given = layer.option("0", "padding")
    parts = given.parts if given is not None and given.kind == "sequence" and given.exact else None
    left, right, top, bottom = [whole(one) for one in parts] if parts and len(parts) == 4 else [whole(given)] * 4
    height, width = shape[-2:]
    tall = None if height is None or top is None or bottom is None else height + top + bottom
    wide = None if width is None or left is None or right is None else width + left + right
    return (*shape[:-2], tall, wide)


def _keras_dense(layer: Value, shape: Shape | None) -> Shape | None:
    shape = shape if shape is not None else _keras_input_of(layer)
    return None if not shape else (*shape[:-1], whole(layer.option("0", "units")))


def _keras_input_of(layer: Value) -> Shape | None:
    """What `input_shape=` or `input_dim=` of a first layer says."""
    given, dim = layer.option("input_shape"), layer.option("input_dim")
    if given is not None and given.kind == "sequence" and given.exact and given.parts is not None:
        return (None, *(whole(part) for part in given.parts))
    return (None, whole(dim)) if dim is not None else None


def _keras_conv(layer: Value, shape: Shape | None) -> Shape | None:
    shape = shape if shape is not None else _keras_input_of(layer)
    count = spatial_axes(layer)
    if shape is None or len(shape) != count + 2 or layer.option("data_format") is not None:
        return None
    kernel = numbers(layer.option("1", "kernel_size"), count, None)
    strides = numbers(layer.option("2", "strides"), count, 1)
    dilation = numbers(layer.option("dilation_rate"), count, 1)
    filters = whole(layer.option("0", "filters"))
    return (shape[0], *_keras_slid(layer.option("3", "padding"), shape[1:-1], kernel, strides, dilation), filters)


def _keras_slid(
    padding: Value | None, sizes: Shape, kernel: list[int | None], strides: list[int | None], dilation: list[int | None]
) -> Shape:
    word = "valid" if padding is None else padding.const
    if word == "same":
        return tuple(
            None if size is None or not step else ceil(size / step) for size, step in zip(sizes, strides, strict=True)
        )
    if word != "valid":
        return (None,) * len(sizes)
    axes = zip(sizes, kernel, strides, dilation, strict=True)
    return tuple(_slid(size, k, s, 0, d) for size, k, s, d in axes)


def _keras_pool(layer: Value, shape: Shape | None) -> Shape | None:
    count = spatial_axes(layer)
    if shape is None or len(shape) != count + 2 or layer.option("data_format") is not None:
        return None
    kernel = numbers(layer.option("0", "pool_size"), count, 2)
    given = layer.option("1", "strides")
    strides = kernel if given is None or given.kind == "none" else numbers(given, count, None)
    return (shape[0], *_keras_slid(layer.option("2", "padding"), shape[1:-1], kernel, strides, [1] * count), shape[-1])


def _keras_flatten(_: Value, shape: Shape | None) -> Shape | None:
    shape = shape if shape is not None else _keras_input_of(_)
    return flattened(shape, 1, -1) if shape is not None and len(shape) > 1 else (None, None)


def _keras_global(layer: Value, shape: Shape | None) -> Shape | None:
    kept = layer.option("keepdims")
    return (shape[0], shape[-1]) if shape is not None and len(shape) > 2 and kept is None else None


def _keras_reshape(layer: Value, shape: Shape | None) -> Shape | None:
    given = layer.option("0", "target_shape")
    if given is None or given.kind != "sequence" or not given.exact or given.parts is None:
        return None
    sizes = [whole(part) for part in given.parts]
    return (shape[0] if shape else None, *(None if size == -1 else size for size in sizes))


_LEAVE_THE_SHAPE: Final = frozenset(
    "relu leaky_relu sigmoid log_sigmoid tanh softmax log_softmax softplus dropout batch_norm identity".split()
)
_RECURRENT: Final = ("torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN")
_RULES: Final[dict[str, Callable[[Value, Shape | None], Shape | None]]] = {
    "torch.nn.Linear": _linear,
    "torch.nn.Flatten": _flatten,
    "torch.nn.Embedding": _embedding,
    "torch.nn.Upsample": _upsample,
    "keras.layers.Dense": _keras_dense,
    "keras.layers.Flatten": _keras_flatten,
    "keras.layers.Reshape": _keras_reshape,
    **{f"torch.nn.Conv{n}d": _convolved for n in (1, 2, 3)},
    **{f"torch.nn.ConvTranspose{n}d": _convolved_back for n in (1, 2, 3)},
    **{f"torch.nn.{kind}Pool{n}d": _pool for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"torch.nn.Adaptive{kind}Pool{n}d": _adaptive for kind in ("Max", "Avg") for n in (1, 2, 3)},
    **{f"torch.nn.BatchNorm{n}d": _batch_norm for n in (1, 2, 3)},
    **{f"torch.nn.{name}Pad2d": _padded for name in ("Zero", "Reflection", "Replication", "Constant")},
    **dict.fromkeys(_RECURRENT, _recurrent),
    **{f"{name}Cell": _cell for name in _RECURRENT},
    **{f"keras.layers.Conv{n}D": _keras_conv for n in (1, 2, 3)},
    **{
        f"keras.layers.{name}{n}D": _keras_pool
        for name in ("MaxPooling", "AveragePooling", "MaxPool", "AvgPool")
        for n in (1, 2, 3)
    },
    **{f"keras.layers.Global{name}Pooling{n}D": _keras_global for name in ("Average", "Max") for n in (1, 2, 3)},
}
