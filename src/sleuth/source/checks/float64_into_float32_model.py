"""NumPy's float64 numbers given to layers of float32: torch does not mix them."""

from __future__ import annotations

import re

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors
from sleuth.source.weights import is_torch_module

OPERATIONS = ("linear", "conv", "recurrent")
# A program that speaks of these may have made its model double.
_DOUBLE_MODEL = re.compile(
    r"\.double\(|torch\.(?:float64|double)|set_default_|DoubleTensor|\.to\(\s*(?:np|x|inputs?)\b"
)


def operation(site: Site) -> Finding | None:
    layer = site.receiver
    given = site.args[0] if site.args else None
    if layer is None or given is None or given.dtype != "float64" or not is_torch_module(layer):
        return None
    if layer.option("dtype", "**") is not None or _DOUBLE_MODEL.search(site.spot.file.text):
        return None
    source = _conversion(given)
    if source is None or (source.unit is not None and _DOUBLE_MODEL.search(source.unit.text)):
        return None
    edits = (tell.insert_after(source.unit, source.node, ".float()"),) if source.unit is not None else ()
    return tell.found(
        "float64-into-float32-model",
        site,
        node=source.node,
        file=source.unit,
        chain=[
            tell.because(source, "the numbers come from NumPy as float64 and stay it"),
            tell.because(site.node, f"{layer.api.rpartition('.')[2]} has weights of float32", site.spot.file),
        ],
        fixes=[Fix("convert them: .float()", edits)],
    )


def _conversion(value: Value) -> Value | None:
    """Where an array became a tensor."""
    return next(
        (one for one in ancestors(value) if one.op in ("from_numpy", "tensor", "as_tensor") and one.dtype == "float64"),
        None,
    )
