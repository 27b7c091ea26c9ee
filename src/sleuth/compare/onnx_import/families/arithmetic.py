"""Operations on numbers one by one: sums, products, comparisons, roundings."""

from __future__ import annotations

from functools import reduce
from typing import Any

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import TRANSLATIONS, Step, as_written, operation

_OF_ONE = {
    "Abs": aten.abs.default,
    "Acos": aten.acos.default,
    "Acosh": aten.acosh.default,
    "Asin": aten.asin.default,
    "Asinh": aten.asinh.default,
    "Atan": aten.atan.default,
    "Atanh": aten.atanh.default,
    "Ceil": aten.ceil.default,
    "Cos": aten.cos.default,
    "Cosh": aten.cosh.default,
    "Det": aten.linalg_det.default,
    "Erf": aten.erf.default,
    "Exp": aten.exp.default,
    "Floor": aten.floor.default,
    "IsNaN": aten.isnan.default,
    "Log": aten.log.default,
    "Neg": aten.neg.default,
    "Not": aten.logical_not.default,
    "Reciprocal": aten.reciprocal.default,
    "Round": aten.round.default,
    "Sign": aten.sign.default,
    "Sin": aten.sin.default,
    "Sinh": aten.sinh.default,
    "Sqrt": aten.sqrt.default,
    "Tan": aten.tan.default,
}
_OF_TWO = {
    "And": aten.logical_and.default,
    "BitwiseAnd": aten.bitwise_and.Tensor,
    "BitwiseOr": aten.bitwise_or.Tensor,
    "BitwiseXor": aten.bitwise_xor.Tensor,
    "Equal": aten.eq.Tensor,
    "Greater": aten.gt.Tensor,
    "GreaterOrEqual": aten.ge.Tensor,
    "Less": aten.lt.Tensor,
    "LessOrEqual": aten.le.Tensor,
    "Or": aten.logical_or.default,
    "Xor": aten.logical_xor.default,
}
_WITH_NUMBER = {"Add": aten.add.Tensor, "Sub": aten.sub.Tensor, "Mul": aten.mul.Tensor}


def number(value: Traced, beside: Traced) -> Any:
    """A constant scalar as the plain number that torch.export would have written, unless it shapes the result."""
    if not value.constant or beside.constant or value.example.numel() != 1 or value.rank > beside.rank:
        return value
    if value.floating:
        return as_written(float(value.exact))
    return value if value.dtype == torch.bool else int(value.exact)


def _one(target: Any) -> Any:
    return lambda b, s: b.call(target, s.inputs[0])


def _two(target: Any) -> Any:
    return lambda b, s: b.call(target, *older_broadcast(b, s))


def _with_number(target: Any) -> Any:
    def translate(b: Builder, s: Step) -> Traced:
        left, right = older_broadcast(b, s)
        if left.constant and target in (aten.add.Tensor, aten.mul.Tensor):
            left, right = right, left
        return b.call(target, left, number(right, left))

    return translate


def older_broadcast(b: Builder, s: Step) -> tuple[Traced, Traced]:
    """Before version 7 the second one's axes were matched from a given axis on."""
    left, right = s.inputs
    if s.opset < 7 and s.get("broadcast") and s.get("axis") is not None:
        after = left.rank - s.get("axis") % left.rank - right.rank
        right = b.call(aten.view.default, right, [*right.shape, *[1] * after])
    return left, right


TRANSLATIONS.update({name: _one(target) for name, target in _OF_ONE.items()})
TRANSLATIONS.update({name: _two(target) for name, target in _OF_TWO.items()})
TRANSLATIONS.update({name: _with_number(target) for name, target in _WITH_NUMBER.items()})


@operation("Div")
def _div(b: Builder, s: Step) -> Traced:
    left, right = older_broadcast(b, s)
    if left.floating and isinstance(number(left, right), float) and left.example.item() == 1.0:
        return b.call(aten.reciprocal.default, right)
    if left.floating:
        return b.call(aten.div.Tensor, left, number(right, left))
    return b.call(aten.div.Tensor_mode, left, right, rounding_mode="trunc")


@operation("Pow")
def _pow(b: Builder, s: Step) -> Traced:
    base, exponent = s.inputs
    plain = number(exponent, base)
    if not isinstance(plain, Traced) and (base.floating or isinstance(plain, int)):
        return b.call(aten.pow.Tensor_Scalar, base, int(plain) if plain == int(plain) else plain)
    if base.dtype != exponent.dtype:
        wide = b.call(aten.to.dtype, base, b.real), b.call(aten.to.dtype, exponent, b.real)
        result = b.call(aten.pow.Tensor_Tensor, *wide)
        return result if base.floating else b.call(aten.to.dtype, result, base.dtype)
    return b.call(aten.pow.Tensor_Tensor, base, exponent)


@operation("Mod")
def _mod(b: Builder, s: Step) -> Traced:
    return b.call(aten.fmod.Tensor if s.get("fmod", 0) else aten.remainder.Tensor, *s.inputs)


@operation("BitShift")
def _shift(b: Builder, s: Step) -> Traced:
    left = s.get("direction") == "LEFT"
    return b.call(aten.bitwise_left_shift.Tensor if left else aten.bitwise_right_shift.Tensor, *s.inputs)


@operation("BitwiseNot")
def _bitwise_not(b: Builder, s: Step) -> Traced:
    if b.widened and s.inputs[0].dtype == torch.int64:
        raise s.refuse("on wide unsigned integers")
    return b.call(aten.bitwise_not.default, s.inputs[0])


@operation("IsInf")
def _is_inf(b: Builder, s: Step) -> Traced:
    positive, negative = s.get("detect_positive", 1), s.get("detect_negative", 1)
    if positive and negative:
        return b.call(aten.isinf.default, s.inputs[0])
    if not positive and not negative:
        return b.call(aten.zeros_like.default, s.inputs[0], dtype=torch.bool)
    return b.call(aten.eq.Scalar, s.inputs[0], float("inf") if positive else float("-inf"))


def _folded(b: Builder, s: Step, target: Any) -> Traced:
    inputs: list[Traced] = s.inputs
    return reduce(lambda left, right: b.call(target, left, right), inputs)


@operation("Sum")
def _sum(b: Builder, s: Step) -> Traced:
    return _folded(b, s, aten.add.Tensor)


@operation("Mean")
def _mean(b: Builder, s: Step) -> Traced:
    return b.call(aten.div.Tensor, _sum(b, s), float(len(s.inputs)))


@operation("Max")
def _max(b: Builder, s: Step) -> Traced:
    return _folded(b, s, aten.maximum.default)


@operation("Min")
def _min(b: Builder, s: Step) -> Traced:
    return _folded(b, s, aten.minimum.default)


@operation("Where")
def _where(b: Builder, s: Step) -> Traced:
    return b.call(aten.where.self, *s.inputs)


@operation("Clip")
def _clip(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    low, high = s.get("min"), s.get("max")
    low = number(s.input(1), value) if s.has(1) else low
    high = number(s.input(2), value) if s.has(2) else high
    if low is None and high is None:
        return value  # type: ignore[no-any-return]
    if any(isinstance(bound, Traced) for bound in (low, high)):
        bounds = [
            bound if bound is None or isinstance(bound, Traced) else b.constant(torch.tensor(bound))
            for bound in (low, high)
        ]
        return b.call(aten.clamp.Tensor, value, *bounds)
    return b.call(aten.clamp.default, value, low, high)


@operation("CumSum", "CumProd")
def _cumulative(b: Builder, s: Step) -> Traced:
    value, axis = s.inputs[0], s.ints(1)[0] % max(s.inputs[0].rank, 1)
    if s.get("reverse", 0):
        value = b.call(aten.flip.default, value, [axis])
    if s.op == "CumSum":
        result = b.call(aten.cumsum.default, value, axis, dtype=value.dtype)
    else:
        result = b.call(aten.cumprod.default, value, axis, dtype=value.dtype)
    if s.get("exclusive", 0):
        first = b.call(aten.slice.Tensor, result, axis, 0, 1)
        first = b.call(aten.full_like.default, first, 0 if s.op == "CumSum" else 1)
        result = b.call(aten.cat.default, [first, b.call(aten.slice.Tensor, result, axis, 0, -1)], axis)
    return b.call(aten.flip.default, result, [axis]) if s.get("reverse", 0) else result
