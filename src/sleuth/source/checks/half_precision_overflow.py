"""A mask constant beyond float16 in half precision, or two masks of finfo.min added up."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.precision import LARGEST
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors, made_by

OPERATIONS = ("masked_fill", "where", "full", "add")
_AUTOCAST = ("torch.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast")
# Operations that autocast runs in float16.
_HALVED = frozenset({"matmul", "linear", "conv"})


def operation(site: Site) -> Finding | None:
    if site.op == "add":
        return _two_masks(site)
    constant = _constant(site)
    number = None if constant is None else constant.number()
    if constant is None or number is None or not LARGEST["float16"] < abs(number) < float("inf"):
        return None
    tensor = site.result if site.op == "full" else site.operands[0 if site.op == "masked_fill" else 1]
    if tensor.dtype == "float16":
        return _found(site, constant, "the tensor is float16", sure=True)
    if site.op != "full" and _autocast_to_half(site) and made_by(tensor, "div", "mul", *_HALVED) and _is_halved(tensor):
        return _found(site, constant, "autocast made the scores float16", sure=False)
    return None


def _constant(site: Site) -> Value | None:
    if site.op == "full":
        return site.operand(1, "fill_value")
    if site.op == "masked_fill":
        return site.operand(2, "value")
    return next((one for one in site.operands[1:3] if one.number() is not None), None)


def _autocast_to_half(site: Site) -> bool:
    for one in site.spot.withs:
        if one.api in _AUTOCAST:
            dtype, enabled = one.option("dtype"), one.option("enabled")
            on_cpu = next((o.const for o in (one.option("0", "device_type"),) if o is not None), None) == "cpu"
            return (
                not on_cpu
                and (dtype is None or dtype.dtype == "float16")
                and (enabled is None or enabled.const is True)
            )
    return False


def _is_halved(tensor: Value) -> bool:
    near = list(ancestors(tensor, lambda one: one.op in _HALVED or one.op in ("float", "softmax"), most=10))
    return any(one.op in _HALVED for one in near) and not any(one.op in ("float", "to", "softmax") for one in near)


def _two_masks(site: Site) -> Finding | None:
    if len(site.operands) < 2 or site.result.kind != "tensor":
        return None
    lowest = [_lowest(one) for one in site.operands[:2]]
    if lowest[0] is None or lowest[1] is None:
        return None
    return tell.found(
        "half-precision-overflow",
        site,
        title="two masks filled with finfo.min add up to -inf",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(lowest[0], "masked positions hold the lowest number of the type"),
            tell.because(lowest[1], "here, too"),
            tell.because(site.node, "where both mask, the sum overflows; a row of -inf gives NaN", site.spot.file),
        ],
        fixes=[Fix("combine the masks as booleans and fill once, or clamp the sum to finfo.min")],
    )


def _lowest(value: Value) -> Value | None:
    """A mask filled with the lowest number of its type."""
    mask = made_by(value, "masked_fill", "where", "mul", "full")
    if mask is None:
        return None
    given = [*mask.inputs, *mask.options.values()]
    return mask if any(one.op == "finfo:min" for one in given) else None


def _found(site: Site, constant: Value, why: str, *, sure: bool) -> Finding:
    return tell.found(
        "half-precision-overflow",
        site,
        title=f"{constant.number():g} does not fit into float16",
        certainty="certain" if sure else "likely",
        severity="error" if sure else "warning",
        chain=[
            tell.because(constant, "the largest float16 is 65504"),
            tell.because(site.node, why, site.spot.file),
        ],
        fixes=[Fix("take the constant from the type: torch.finfo(scores.dtype).min")],
    )
