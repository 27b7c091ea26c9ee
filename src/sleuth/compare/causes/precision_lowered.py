"""A layer, or its weights, kept in fewer bits than the reference's: half precision, bfloat16, or 8-bit integers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import torch
from torch import Tensor

from sleuth.compare.causes import ANY, Proposal, Target
from sleuth.compare.causes._arguments import changed, followed_by, is_floating
from sleuth.compare.causes._rounding import FORMATS, Format, coarsest, on_grid, rounded, snapped, step_of
from sleuth.compare.causes._sightings import Sighting, sightings
from sleuth.compare.reference import Call
from sleuth.compare.values import Array, in_float64

OPS = ANY
# Their operands are rounded too when such an operation is computed in fewer bits.
_PRODUCTS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("linear", "conv1d", "conv2d", "conv3d"), ("input", "weight", "bias")),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), ("input", "weight", "bias")),
    "matmul": ("self", "other"),
    "mm": ("self", "mat2"),
    "bmm": ("self", "mat2"),
    "addmm": ("self", "mat1", "mat2"),
    "scaled_dot_product_attention": ("query", "key", "value"),
}
_WEIGHTS = {
    **dict.fromkeys(("linear", "embedding", "conv1d", "conv2d", "conv3d"), "weight"),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), "weight"),
    "addmm": "mat2",
}
_WITH_BIAS = frozenset(_WEIGHTS) - {"embedding", "addmm"}
_EXACT = torch.zeros(())
# What the rounding of one sum in float32 may be off by.
_AS_IN_FLOAT32 = 2.0**-23
_RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})
_FIX = "keep this layer in float32, or accept the loss and compare with the lower precision's own noise"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    yield from _of_weights(call)
    if call.op in _PRODUCTS:
        yield from _of_operands(call, target)
    if call.op == "input":
        yield from _of_input(call)
    for sighting in sightings(call, target):
        yield from _of_value(sighting)
    if call.op in _WITH_BIAS and isinstance(call.arguments.get("bias"), Tensor):
        yield from _without_bias(call, target)


def _of_input(call: Call) -> Iterator[Proposal]:
    if is_floating(call.arguments["value"]):
        for form in FORMATS:
            yield Proposal(f"its input is kept in {form.name}", _FIX, followed_by(_rounding(form)))


def _rounding(form: Format) -> Callable[[Tensor], Tensor]:
    return lambda value: rounded(value, form)


def _of_weights(call: Call) -> Iterator[Proposal]:
    if call.op in _RECURRENT:
        for form in FORMATS:
            yield Proposal(
                f"its weights are rounded to {form.name}",
                _FIX,
                changed("params", lambda all_, form=form: [rounded(one, form) for one in all_]),  # type: ignore[misc]
            )
        return
    name = _WEIGHTS.get(call.op)
    if name is None or not isinstance(call.arguments.get(name), Tensor):
        return
    for form in FORMATS:
        for names in ((name, "bias"), (name,)):  # a converter may leave small arrays as they are
            yield Proposal(
                f"its weights are rounded to {form.name}",
                _FIX,
                lambda call, form=form, names=names: call.again(**_all_rounded(call, names, form)),  # type: ignore[misc]
            )
    for says, change in _INTEGERS.items():
        yield Proposal(f"its weights are {says}", _FIX, changed(name, change))


def _all_rounded(call: Call, names: Iterable[str], form: Format) -> dict[str, Tensor]:
    return {name: rounded(call.arguments[name], form) for name in names if isinstance(call.arguments.get(name), Tensor)}


def _of_operands(call: Call, target: Target) -> Iterator[Proposal]:
    """Operands rounded, sums exact; the result rounded as well where the target's is."""
    names = _PRODUCTS[call.op]
    for form in FORMATS:
        yield Proposal(
            f"it is computed from operands rounded to {form.name}",
            _FIX,
            lambda call, form=form: call.again(**_all_rounded(call, names, form)),  # type: ignore[misc]
        )
        if on_grid(target.value, form):
            yield Proposal(
                f"it is computed in {form.name}",
                _FIX,
                lambda call, form=form: snapped(call.again(**_all_rounded(call, names, form)), target.value, form),  # type: ignore[misc]
            )


def _of_value(sighting: Sighting) -> Iterator[Proposal]:
    """A value that is rounded where it is, whatever it was computed from."""
    own = sighting.own.numpy()
    for form in FORMATS:
        if on_grid(sighting.other, form) and not on_grid(own, form):
            rounding = sighting.made(_snapping(sighting.other, form))
            yield Proposal(f"{sighting.whose} kept in {form.name}", _FIX, rounding)
    theirs = torch.from_numpy(in_float64(sighting.other))
    if computed := coarsest(sighting.own, theirs, _EXACT):
        yield Proposal(f"{sighting.whose} computed in {computed.name}", _FIX, sighting.made(lambda _: theirs), rank=1)
    step = step_of(sighting.other)
    if step is not None and abs(own - sighting.other).max() <= 0.51 * step:
        rounding = sighting.made(_snapping(sighting.other, step))
        yield Proposal(f"{sighting.whose} kept in steps of {step:.4g}", _FIX, rounding, rank=1)


def _without_bias(call: Call, target: Target) -> Iterator[Proposal]:
    """The product in fewer bits, the bias added to it in float32."""
    whole = call.again()
    if tuple(whole.shape) != target.value.shape:
        return
    product = call.again(bias=None)
    theirs = torch.from_numpy(in_float64(target.value))
    form = coarsest(product, theirs - (whole - product), _AS_IN_FLOAT32 * theirs.abs())
    if form is not None:
        yield Proposal(f"its product is computed in {form.name}", _FIX, lambda call: theirs, rank=1)


def _snapping(target: Array, grid: Format | float) -> Callable[[Tensor], Tensor]:
    return lambda value: snapped(value, target, grid)


def _symmetric(steps: float, per_channel: bool) -> Callable[[Tensor], Tensor]:
    """`steps` from zero to the largest: 127, or 127.5 with PyTorch's observers."""

    def rounded_to_integers(weight: Tensor) -> Tensor:
        sizes = weight.abs().flatten(1).amax(1) if per_channel else weight.abs().max().expand(len(weight))
        scale = (sizes / steps).float().double().clamp(min=1e-30).reshape(-1, *[1] * (weight.ndim - 1))
        return torch.clamp((weight / scale).round(), -int(steps) - 1, int(steps)) * scale

    return rounded_to_integers


def _by_range(weight: Tensor) -> Tensor:
    low, high = weight.min().clamp(max=0), weight.max().clamp(min=0)
    scale = ((high - low) / 255).float().double()
    zero = (-low / scale).round()
    return (torch.clamp((weight / scale).round() + zero, 0, 255) - zero) * scale


_INTEGERS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "rounded to 8-bit integers, one scale for the whole tensor": _symmetric(127, False),
    "rounded to 8-bit integers, one scale a channel": _symmetric(127, True),
    "rounded to 8-bit integers from the smallest to the largest": _by_range,
    "rounded to 8-bit integers, one scale for the whole tensor (the range cut into 255)": _symmetric(127.5, False),
    "rounded to 8-bit integers, one scale a channel (the range cut into 255)": _symmetric(127.5, True),
    "rounded to 4-bit integers, one scale for the whole tensor": _symmetric(7, False),
}
