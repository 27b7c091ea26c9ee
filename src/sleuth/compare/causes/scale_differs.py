"""A value that is the reference's but for a constant: a factor or an offset that one side has and the other has not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import (
    CONVOLUTIONS,
    NORMS,
    PRODUCTS,
    TRANSPOSED_CONVOLUTIONS,
    argument,
    changed,
    followed_by,
    is_floating,
    is_number,
)
from sleuth.compare.reference import Call, as_array, as_tensor
from sleuth.compare.scores import LIMIT
from sleuth.compare.values import Array, in_float64

_SUMS = frozenset(
    {"add", "sub", "mul", "div", "mean", "sum", "einsum", "embedding", "linear", "scaled_dot_product_attention"}
)
_CURVES = frozenset({"softmax", "sigmoid", "tanh", "relu", "gelu", "silu", "dropout", "clone", "cat", "getitem"})
OPS = CONVOLUTIONS | TRANSPOSED_CONVOLUTIONS | NORMS | PRODUCTS | _SUMS | _CURVES
# One or two constants fit a handful of numbers whatever they are.
_FEWEST = 8
_PART = 1 << 12
# Any scale of weights fits too, but there the weights can be seen.
RANK = 4
# How near a fitted constant must be to a known one to be told as that.
_NEAR = 3e-6
_LARGEST_ROOT = 4096


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if not is_floating(call.again()):
        return
    if call.op in ("mul", "div"):
        yield from _left_out(call)
    if call.op == "dropout":
        yield from _of_dropout(call)
    if call.op in ("embedding", "linear", "matmul", "bmm"):
        value: Tensor = call.again()
        for factor, name in _known(tuple(value.shape)):
            if "sqrt" in name:
                yield _times(factor, name, rank=1)
    yield from _fitted(call, target)
    if call.op in ("add", "sub"):
        yield from _of_one_operand(call, target)


def _of_one_operand(call: Call, target: Target) -> Iterator[Proposal]:
    """A sum of which one part alone has a factor: attention scores with a bias, a residual branch."""
    value = call.again()
    if tuple(value.shape) != target.value.shape or not _is_various(as_array(value).ravel()):
        return
    theirs = as_tensor(in_float64(target.value))
    for name, which in (("self", "first"), ("other", "second")):
        operand = call.arguments[name]
        if not is_floating(operand) or not operand.any():
            continue
        part = value - call.again(**{name: operand * 0})  # as it stands in the sum
        factor = float((part * (theirs - value)).sum() / part.square().sum()) + 1
        if not math.isfinite(factor) or factor == 0 or abs(factor - 1) < _NEAR:
            continue
        if any(math.isclose(factor, known, rel_tol=_NEAR) for known, _ in _known(tuple(operand.shape))):
            continue  # told of the operand itself (`behind`)
        told = _as_a_root(factor)
        found = Proposal(
            f"the {which} of its two parts is {told} times as large",
            f"find the factor {told} that one of the two has",
            lambda call, name=name, factor=factor: call.again(**{name: call.arguments[name] * factor}),  # type: ignore[misc]
            RANK,
        )
        if target.judge is None or target.judge(found.apply) <= LIMIT:
            yield found


def _as_a_root(factor: float) -> str:
    """`1/sqrt(8)` of 0.353553: the size of heads cannot be seen in the shape of their scores."""
    square = factor * factor
    for number, word in ((square, "sqrt({})"), (1 / square, "1/sqrt({})")):
        whole = round(number)
        if factor > 0 and 1 < whole <= _LARGEST_ROOT and math.isclose(number, whole, rel_tol=_NEAR):
            return word.format(whole) if math.isqrt(whole) ** 2 != whole else f"{factor:.6g}"
    return f"{factor:.6g}"


def behind(value: Tensor) -> Iterable[Proposal]:
    for factor, name in _known(tuple(value.shape)):
        yield _times(factor, name, RANK)


def _left_out(call: Call) -> Iterator[Proposal]:
    """A factor that stands in the reference's own code."""
    factor = argument(call, "other")
    if isinstance(factor, Tensor) and factor.ndim == 0:
        factor = factor.item()
    if not is_number(factor) or factor in (0, 1):
        return
    verb, other = ("divided by", "multiplied by") if call.op == "div" else ("multiplied by", "divided by")
    fix = f"it must be {verb} {factor:.6g}"
    yield Proposal(f"it is not {verb} {factor:.6g}", fix, lambda call: call.arguments["self"].clone())
    yield Proposal(f"it is {other} {factor:.6g}, not {verb} it", fix, changed("other", lambda f: 1 / f))
    yield Proposal(f"it is {verb} {factor:.6g} twice", fix, changed("other", lambda f: f * f))


def _of_dropout(call: Call) -> Iterator[Proposal]:
    p = argument(call, "p")
    if p and p < 1:
        fix = "leave dropout out at inference; the factor belongs to training alone"
        yield Proposal("its dropout multiplies by 1 - p at inference", fix, followed_by(lambda x: x * (1 - p)))
        yield Proposal("its dropout divides by 1 - p at inference", fix, followed_by(lambda x: x / (1 - p)))


def _fitted(call: Call, target: Target) -> Iterator[Proposal]:
    """In closed form, where the two part at this very operation."""
    value = call.again()
    if not isinstance(value, Tensor) or tuple(value.shape) != target.value.shape:
        return
    own, theirs = in_float64(as_array(value)).ravel(), in_float64(target.value).ravel()
    if not (np.isfinite(own).all() and np.isfinite(theirs).all()) or not _is_various(own):
        return
    for factor, offset in _fits(own, theirs):
        if abs(factor - 1) < _NEAR and abs(offset) < _NEAR * np.abs(own).max():
            continue
        proposal = _named(factor, offset, tuple(value.shape))
        if proposal is not None and (target.judge is None or target.judge(proposal.apply) <= LIMIT):
            yield proposal
            return


def _is_various(own: Array) -> bool:
    """A part of a large array nearly always shows it."""
    part = own[:: max(own.size // _PART, 1)]
    return np.unique(part).size >= _FEWEST or np.unique(own).size >= _FEWEST


def _fits(own: Array, theirs: Array) -> Iterator[tuple[float, float]]:
    yield float(own @ theirs / (own @ own)), 0.0
    yield 1.0, float((theirs - own).mean())
    centred = own - own.mean()
    factor = float(centred @ theirs / (centred @ centred))
    yield factor, float(theirs.mean() - factor * own.mean())


def _named(factor: float, offset: float, shape: tuple[int, ...]) -> Proposal | None:
    if not offset:
        if factor == 0 or not math.isfinite(factor):
            return None
        for known, name in _known(shape):
            if math.isclose(factor, known, rel_tol=_NEAR):
                return _times(known, name, RANK)
        return _times(factor, f"{factor:.6g}", RANK)
    shown = f"{abs(offset):.6g} is {'added to' if offset > 0 else 'taken from'} it"
    if factor == 1:
        return Proposal(shown, "compute it without that offset", followed_by(lambda x: x + offset), RANK)
    says = f"it is {factor:.6g} times as large and {shown}"
    return Proposal(says, "compute it without that factor and offset", followed_by(lambda x: x * factor + offset), RANK)


def _times(factor: float, name: str, rank: int) -> Proposal:
    says = f"it is {name} times as large"
    return Proposal(says, f"find the factor {name} that one of the two has", followed_by(lambda x: x * factor), rank)


def _known(shape: tuple[int, ...]) -> Iterator[tuple[float, str]]:
    for number in (2, 255, 127.5, 10, 100, 1000):
        yield float(number), f"{number:g}"
        yield 1 / number, f"1/{number:g}"
    yield -1.0, "-1"
    for size in dict.fromkeys(shape[-1:] + shape[1:2]):
        if size > 1 and size != 4:  # whose root is 2
            yield math.sqrt(size), f"sqrt({size})"
            yield 1 / math.sqrt(size), f"1/sqrt({size})"
