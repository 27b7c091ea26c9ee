"""What the numbers of a hollow tensor are taken to be, where its making tells: masks are full, nothing is NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import add, mul, sub
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.fake import hollow
from sleuth.dry.fake.operations import Operation

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# Of tensors that are all alike they make one that is like them.
_PASS_ON = frozenset(
    "_to_copy clone max min amax amin any all index_select index gather cat stack masked_select".split()
)
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"add": add, "add_": add, "sub": sub, "mul": mul}


def masks_are_full(stage: Stage) -> bool:
    """Does a mask keep everything, or nothing? Everything takes the most memory, nothing is what crashes."""
    return stage.scenario.corner != "empty_mask"


def of(stage: Stage, func: Any, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The number each element of the result is taken to be; ANYTHING where nothing is known."""
    first = args[0] if args and isinstance(args[0], torch.Tensor) else None
    if first is None:
        return hollow.ANYTHING
    name = operation.name
    if name in ("eq", "ne") and len(args) > 1:
        return _compared(name, first, args[1])
    if name in ("isnan", "isinf"):
        return False
    if name in ("logical_not", "bitwise_not") and first.dtype is torch.bool:
        known = _guess(first)
        return hollow.ANYTHING if known is hollow.ANYTHING else not known
    if name in ("mul", "bitwise_and", "logical_and") and len(args) > 1 and _is_bool(first, args[1]):
        return _both(_guess(first), _guess(args[1]))
    if name in ("sum", "count_nonzero"):
        return _sum(stage, first, args, kwargs)
    if name in _ARITHMETIC and len(args) > 1:
        return _reckoned(_ARITHMETIC[name], first, args[1])
    if name in _PASS_ON or (name in ("max", "min") and len(args) == 1):
        return _passed_on(stage, first, kwargs)
    return hollow.ANYTHING


def _reckoned(operator: Callable[[Any, Any], Any], first: torch.Tensor, other: Any) -> Any:
    """Of two numbers that are both guessed or known."""
    one, two = _number(first), _number(other)
    return hollow.ANYTHING if hollow.ANYTHING in (one, two) else operator(one, two)


def _number(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    guess = hollow.guess_of(value)
    if guess is hollow.KNOWN:
        return value.item() if value.numel() == 1 else hollow.ANYTHING
    return guess


def _is_bool(*tensors: Any) -> bool:
    return all(isinstance(one, torch.Tensor) and one.dtype is torch.bool for one in tensors)


def _guess(tensor: torch.Tensor) -> Any:
    guess = hollow.guess_of(tensor)
    return hollow.ANYTHING if guess is hollow.KNOWN else guess


def _compared(name: str, first: torch.Tensor, other: Any) -> Any:
    """`x == x` and `x.abs() != inf` are how isnan, isinf and isfinite are made."""
    if other is first or (isinstance(other, float) and math.isinf(other)):
        is_itself = other is first
        return (name == "eq") is is_itself
    return hollow.ANYTHING


def _both(one: Any, other: Any) -> Any:
    if one is hollow.ANYTHING or other is hollow.ANYTHING:
        return False if False in (one, other) else hollow.ANYTHING
    return bool(one and other)


def _sum(stage: Stage, first: torch.Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    each = _of_mask(stage, first)
    if each is hollow.ANYTHING:
        return hollow.ANYTHING
    dims = args[1] if len(args) > 1 else kwargs.get("dim")
    if dims is None or dims == []:
        return each * first.numel()
    counted = [dims] if isinstance(dims, int) else dims
    return each * math.prod(first.shape[dim] for dim in counted)


def _of_mask(stage: Stage, tensor: torch.Tensor) -> Any:
    guess = _guess(tensor)
    if guess is hollow.ANYTHING and tensor.dtype is torch.bool:
        return masks_are_full(stage)
    return guess


def _passed_on(stage: Stage, first: torch.Tensor, kwargs: dict[str, Any]) -> Any:
    dtype = kwargs.get("dtype")
    if dtype is not None and dtype is not torch.bool and first.dtype is torch.bool:
        return int(_of_mask(stage, first))
    return _guess(first)
