"""What a number format costs: the reference computed as a faithful implementation in that format would compute it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, fx

from sleuth.compare.quantiser import fake_quantised, in_tf32
from sleuth.compare.reference import Call, Override, Reference
from sleuth.compare.scores import EPS, Noise
from sleuth.compare.values import Array, Batch, Captured, is_real

_HALVES = {
    "bfloat16": torch.bfloat16,
    "bf16": torch.bfloat16,
    "float16": torch.float16,
    "fp16": torch.float16,
}
_AUTOCAST = "autocast-"
# The relative error of whole numbers of which one in a hundred is another; six times that is a quarter of them.
_CHOICES = 0.1


def is_full(precision: str) -> bool:
    """float32 and wider, whose yardstick is the noise of float32 itself."""
    return precision not in ("int8", "tf32") and precision.removeprefix(_AUTOCAST) not in _HALVES


def least_error(precision: str) -> float:
    """The rounding step of the format, the least error that counts; float32's where only some values are rounded."""
    return torch.finfo(_HALVES[precision]).eps if precision in _HALVES else EPS


def in_format(
    reference: Reference,
    batch: Batch,
    precision: str,
    quantised: Collection[str] | None = None,
    wanted: Collection[str] | None = None,
) -> Captured:
    """The reference in this format, with all its values or those wanted; `quantised` its int8 layers, where known."""
    if precision == "tf32":
        rounding = {name: in_tf32(reference.value(name).op) for name in reference.names}
        return reference.trace(batch, torch.float32, wanted, {name: one for name, one in rounding.items() if one})
    if precision == "int8":
        return reference.trace(batch, torch.float32, wanted, _quantising(reference, quantised))
    if precision in _HALVES:
        careful: dict[str, Override] = {name: _by_way_of_float32(_HALVES[precision]) for name in reference.names}
        return reference.trace(batch, _HALVES[precision], wanted, careful)
    if precision.startswith(_AUTOCAST):
        dtype = _HALVES[precision.removeprefix(_AUTOCAST)]
        with torch.autocast("cpu", dtype):
            careful = {name: _by_way_of_float32(dtype) for name in reference.names}
            return reference.trace(batch, torch.float32, wanted, careful)
    return reference.trace(batch, torch.float32, wanted)


def output_noise(truth: Array, single: Array, precision: str) -> Noise:
    """Where an output is a choice between classes, some choices go the other way merely for a coarse format."""
    noise = Noise.of(truth, single, eps=least_error(precision))
    if is_real(truth) or is_full(precision):
        return noise
    return replace(noise, rms=max(noise.rms, _CHOICES), most=max(noise.most, 1.0))


def _by_way_of_float32(dtype: torch.dtype) -> Override:
    """The operation in the format itself; where the CPU lacks it, in float32 with its result rounded."""

    def compute(call: Call) -> Any:
        try:
            return call.again()
        except RuntimeError:
            wide = cast(dict(call.arguments), dtype, torch.float32)
            return cast(call.again(**wide), torch.float32, dtype)

    return compute


def cast(values: Any, given: torch.dtype, wanted: torch.dtype) -> Any:
    """Tensors of one type in another, however they are nested, and the type itself where it is an argument."""

    def one(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(wanted) if value.dtype == given else value
        return wanted if value is given else value

    return torch.utils._pytree.tree_map(one, values)


def _quantising(reference: Reference, quantised: Collection[str] | None) -> dict[str, Override]:
    overrides: dict[str, Override] = {}
    for name in reference.names:
        if quantised is None or reference.value(name).layer in quantised:
            override = fake_quantised(reference.value(name).op, _of_weights(reference.nodes[name]))
            if override is not None:
                overrides[name] = override
    return overrides


def _of_weights(node: fx.Node) -> frozenset[str]:
    """The arguments that are weights, by the names of the operation's schema."""
    target: Any = node.target
    if not isinstance(target, torch._ops.OpOverload):
        return frozenset()
    names = [argument.name for argument in target._schema.arguments]
    given = {**dict(zip(names, node.args, strict=False)), **node.kwargs}
    return frozenset(name for name, one in given.items() if _all_weights(one))


def _all_weights(argument: Any) -> bool:
    if isinstance(argument, list | tuple):
        return bool(argument) and all(_all_weights(one) for one in argument)
    return isinstance(argument, fx.Node) and argument.op == "get_attr"
