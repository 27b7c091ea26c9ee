"""Numbers between 0 and 1 cast to whole bytes: all become 0, the image is black."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import SAME_NUMBERS, Value, origins

CALLS = ("tensor.byte", "array.astype", "tensor.to", "tensor.type", "tensor.astype", "tensorflow.cast", "numpy.uint8")
# Operations whose results are fractions, not a mask of zeros and ones.
_FRACTIONS = ("sigmoid", "softmax", "rand", "api:numpy.random.rand", "api:numpy.random.random")


def call(site: Site) -> Finding | None:
    if not _to_bytes(site) or not site.operands:
        return None
    source = [one for one in origins(site.operands[0], SAME_NUMBERS) if one.op]
    if not source or not all(_is_fraction(one) for one in source) or site.spot.file.is_test:
        return None
    made = source[0]
    scaled = made.op == "div"
    return tell.found(
        "image-cast-to-uint8",
        site,
        certainty="likely" if scaled else "certain",
        severity="warning" if scaled else "error",
        chain=[
            tell.because(
                made, "divided by 255 the values lie between 0 and 1" if scaled else "these values lie between 0 and 1"
            ),
            tell.because(site.node, "a byte holds whole numbers: everything below 1 becomes 0", site.spot.file),
        ],
        fixes=[Fix("multiply by 255 first: (image * 255).round().astype(np.uint8)")],
    )


def _to_bytes(site: Site) -> bool:
    if site.name in ("tensor.byte", "numpy.uint8"):
        return True
    return site.result.dtype == "uint8" and site.operands[0].dtype != "uint8"


def _is_fraction(value: Value) -> bool:
    if value.op == "clamp":
        inner = value.inputs[0]
        floats = (
            inner.grad is True
            or inner.dtype in ("float16", "float32", "float64")
            or inner.op in ("module", "conv", "add")
        )
        return floats and value.lo == 0 and value.hi == 1 and inner.op != "compare"
    if value.op == "div":
        divisor = value.inputs[1].number() if len(value.inputs) > 1 else None
        return divisor == 255
    return value.op in _FRACTIONS and value.hi in (None, 1.0)
