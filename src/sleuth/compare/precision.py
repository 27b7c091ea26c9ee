"""What a number format costs: the reference computed as a faithful implementation in that format would compute it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, fx

from sleuth.compare.quantiser import fake_quantised, in_tf32
from sleuth.compare.reference import Call, Override, Reference
from sleuth.compare.scores import EPS
from sleuth.compare.values import Batch, Captured

_HALVES = {
    "bfloat16": torch.bfloat16,
    "bf16": torch.bfloat16,
    "float16": torch.float16,
    "fp16": torch.float16,
}
_AUTOCAST = "autocast-"


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
    with _autocast(precision):
        return reference.trace(batch, torch.float32, wanted)


def _autocast(precision: str) -> AbstractContextManager[Any]:
    dtype = _HALVES.get(precision.removeprefix(_AUTOCAST)) if precision.startswith(_AUTOCAST) else None
    return torch.autocast("cpu", dtype) if dtype is not None else nullcontext()


def _by_way_of_float32(dtype: torch.dtype) -> Override:
    """The operation in the format itself; where the CPU lacks it, in float32 with its result rounded."""

    def compute(call: Call) -> Any:
        try:
            return call.again()
        except RuntimeError:
            wide = torch.utils._pytree.tree_map(lambda one: _cast(one, dtype, torch.float32), dict(call.arguments))
            return torch.utils._pytree.tree_map(lambda one: _cast(one, torch.float32, dtype), call.again(**wide))

    return compute


def _cast(one: Any, given: torch.dtype, wanted: torch.dtype) -> Any:
    if isinstance(one, Tensor):
        return one.to(wanted) if one.dtype == given else one
    return wanted if one == given else one


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
