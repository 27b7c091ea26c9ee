"""A normalisation by another formula: another variance, no mean, other groups, another axis, or the scale left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes import _weights as weights
from sleuth.compare.causes._arguments import NORMS, argument, changed, is_floating
from sleuth.compare.reference import Call, Override

# The last three are parts of normalisations that are written out.
OPS = NORMS | {"mul", "var", "std"}
_MOST_GROUPS = 12
_Formula = Callable[[Tensor, tuple[int, ...], float], Tensor]


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op == "mul":
        yield from _scales(call, target)
        yield from _of_written_rms_norm(call)
    elif call.op in ("var", "std"):
        yield from _corrected(call)
    else:
        yield from {
            "layer_norm": _of_layer_norm,
            "rms_norm": _of_rms_norm,
            "group_norm": _of_group_norm,
            "instance_norm": _of_group_norm,
            "batch_norm": _of_batch_norm,
        }[call.op](call)
        yield from _affine(call, target)


def _of_layer_norm(call: Call) -> Iterator[Proposal]:
    dims = _last(call)
    for says, formula in _FORMULAS.items():
        yield _proposal(says, "the mean and the biased variance, epsilon under the root", _by(formula, dims))
    yield _proposal("it does not subtract the mean (RMSNorm)", "subtract the mean: LayerNorm", _by(_rms, dims))
    if argument(call, "bias") is not None:
        yield _proposal("it is RMSNorm, without a mean and a shift", "use LayerNorm", _by(_rms, dims, shift=False))
    data: Tensor = call.arguments["input"]
    for axis in range(data.ndim):
        if len(dims) == 1 and axis - data.ndim != dims[0] and data.shape[axis] > 1:
            yield _proposal(
                f"it normalises over axis {axis}", f"normalise over axis {data.ndim - 1}", _by(_plain, (axis,))
            )
    if len(dims) < data.ndim - 1:
        every = tuple(range(1, data.ndim))
        yield _proposal("it normalises over all axes but the first", "normalise over the last axis", _by(_plain, every))


def _of_rms_norm(call: Call) -> Iterator[Proposal]:
    dims = _last(call)
    yield _proposal("it subtracts the mean (LayerNorm)", "do not subtract the mean: RMSNorm", _by(_plain, dims))
    yield _proposal("its epsilon is added outside the root", "add epsilon under the root", _by(_rms_outside, dims))


def _of_written_rms_norm(call: Call) -> Iterator[Proposal]:
    """x * rsqrt(mean(x * x) + epsilon): what is left of the second factor, without the mean, is one small number."""
    for data, factor in ((call.arguments["self"], call.arguments["other"]), tuple(call.arguments.values())[1::-1]):
        if not (is_floating(data) and is_floating(factor)) or factor.shape != (*data.shape[:-1], 1) or data.ndim < 2:
            continue
        squares = data.square().mean(-1, keepdim=True)
        eps = float((factor.pow(-2) - squares).median())
        if eps >= 0 and torch.allclose(factor, torch.rsqrt(squares + eps), rtol=1e-9, atol=0.0):
            yield _proposal(
                "it subtracts the mean (LayerNorm)",
                "do not subtract the mean: RMSNorm",
                lambda _, data=data, eps=eps: _plain(data, (-1,), eps),  # type: ignore[misc]
            )
            return


def _of_group_norm(call: Call) -> Iterator[Proposal]:
    data: Tensor = call.arguments["input"]
    channels = data.shape[1]
    if call.op == "instance_norm" and not argument(call, "use_input_stats"):
        return
    own = channels if call.op == "instance_norm" else call.arguments["num_groups"]
    for count in [count for count in range(1, channels + 1) if channels % count == 0 and count != own][:_MOST_GROUPS]:
        yield _proposal(f"it normalises in {count} groups, not {own}", f"use {own} groups", _grouped(count, _plain))
    for says, formula in _FORMULAS.items():
        yield _proposal(says, "the mean and the biased variance, epsilon under the root", _grouped(own, formula))
    if 1 < own < channels:
        says = "its groups are of every nth channel, not of neighbours"
        yield _proposal(says, "group neighbouring channels", _grouped(own, _plain, interleaved=True))


def _of_batch_norm(call: Call) -> Iterator[Proposal]:
    if argument(call, "training") or argument(call, "running_var") is None:
        return
    yield _proposal("its epsilon is added outside the root", "add epsilon under the root", _batch_norm_outside)
    if call.arguments["input"].ndim > 2:
        own = call.arguments["input"].shape[1]
        yield _proposal("it normalises each sample alone (InstanceNorm)", "use BatchNorm", _grouped(own, _plain))


def _affine(call: Call, target: Target) -> Iterator[Proposal]:
    """Left out, or kept around zero instead of one; fresh arrays in the target are another matter."""
    weight, bias = argument(call, "weight"), argument(call, "bias")
    if weight is None:
        return
    learnt = bool((weight != 1).any()) or (bias is not None and bool(bias.any()))
    if learnt and not any(bool((array == 1).all()) for _, array in weights.strangers(weight, target)):
        without = {"weight": None, **({} if bias is None else {"bias": None})}
        says = "it normalises without its learnt scale" + ("" if bias is None else " and shift")
        yield _proposal(says, "apply the scale and shift that were learnt", lambda call: call.again(**without))
    yield from _around_one("weight")


def _scales(call: Call, target: Target) -> Iterator[Proposal]:
    for name in ("self", "other"):
        factor = argument(call, name)
        if is_floating(factor) and factor.ndim == 1 and factor.numel() > 1:
            yield from _around_one(name)


def _around_one(name: str) -> Iterator[Proposal]:
    yield _proposal(
        "its scale is 1 + weight, not the weight", "multiply by the weight itself", changed(name, lambda w: w + 1)
    )
    yield _proposal("its scale is the weight, not 1 + weight", "multiply by 1 + weight", changed(name, lambda w: w - 1))


def _corrected(call: Call) -> Iterator[Proposal]:
    if "correction" in call.arguments:
        own = call.arguments["correction"]
        change: Override = changed("correction", lambda own: 0 if own is None or own else 1)
    else:
        own = argument(call, "unbiased")
        change = lambda call: call.again(unbiased=not argument(call, "unbiased"))  # noqa: E731
    divides = ("n", "n - 1") if own is None or own else ("n - 1", "n")
    yield _proposal(f"its variance divides by {divides[0]}", f"divide by {divides[1]}", change)


def _last(call: Call) -> tuple[int, ...]:
    return tuple(range(-len(call.arguments["normalized_shape"]), 0))


def _plain(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return (x - x.mean(dims, keepdim=True)) / (x.var(dims, correction=0, keepdim=True) + eps).sqrt()


def _unbiased(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return (x - x.mean(dims, keepdim=True)) / (x.var(dims, keepdim=True) + eps).sqrt()


def _outside(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return (x - x.mean(dims, keepdim=True)) / (x.var(dims, correction=0, keepdim=True).sqrt() + eps)


def _unbiased_outside(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return (x - x.mean(dims, keepdim=True)) / (x.std(dims, keepdim=True) + eps)


def _rms(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return x / (x.square().mean(dims, keepdim=True) + eps).sqrt()


def _rms_outside(x: Tensor, dims: tuple[int, ...], eps: float) -> Tensor:
    return x / (x.square().mean(dims, keepdim=True).sqrt() + eps)


_FORMULAS: dict[str, _Formula] = {
    "its variance divides by n - 1": _unbiased,
    "its epsilon is added outside the root": _outside,
    "its variance divides by n - 1 and epsilon is added outside the root": _unbiased_outside,
}


def _by(formula: _Formula, dims: tuple[int, ...], shift: bool = True) -> Override:
    """With the scale and shift on the last axes."""

    def apply(call: Call) -> Any:
        eps, weight, bias = argument(call, "eps"), argument(call, "weight"), argument(call, "bias")
        data = call.arguments["input"]
        result = formula(data, dims, torch.finfo(torch.float32).eps if eps is None else eps)
        result = result if weight is None else result * weight
        return result + bias if shift and bias is not None else result

    return apply


def _grouped(count: int, formula: _Formula, interleaved: bool = False) -> Override:
    """With the scale and shift on the channels, which come second."""

    def apply(call: Call) -> Any:
        data: Tensor = call.arguments["input"]
        parts = (-1, count) if interleaved else (count, -1)
        grouped = data.reshape(data.shape[0], *parts, *data.shape[2:])
        inner = tuple(axis for axis in range(1, grouped.ndim) if axis != (2 if interleaved else 1))
        return _on_channels(call, formula(grouped, inner, argument(call, "eps")).reshape(data.shape))

    return apply


def _on_channels(call: Call, data: Tensor) -> Tensor:
    shape = (-1, *[1] * (data.ndim - 2))
    weight, bias = argument(call, "weight"), argument(call, "bias")
    data = data if weight is None else data * weight.reshape(shape)
    return data if bias is None else data + bias.reshape(shape)


def _batch_norm_outside(call: Call) -> Any:
    data: Tensor = call.arguments["input"]
    shape = (-1, *[1] * (data.ndim - 2))
    mean, variance = call.arguments["running_mean"].reshape(shape), call.arguments["running_var"].reshape(shape)
    return _on_channels(call, (data - mean) / (variance.sqrt() + argument(call, "eps")))


def _proposal(says: str, fix: str, apply: Override) -> Proposal:
    return Proposal(says, f"compute it as the reference does: {fix}", apply)
