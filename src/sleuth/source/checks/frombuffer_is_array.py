"""`np.frombuffer(...)` used where one number is needed: it is an array, even of one element."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, itself

OPERATIONS = ("zeros", "ones", "empty", "reshape", "view")
CALLS = ("*.read", "*.seek", "builtins.range")


def call(site: Site) -> Finding | None:
    return _told(site, site.args[:1], "read and seek need a whole number")


def operation(site: Site) -> Finding | None:
    if site.op in ("reshape", "view"):
        return _told(site, site.operands[1:], "a size is a whole number")
    # One array alone would be taken for a whole shape.
    shape = site.operands[0] if site.operands else None
    return _told(site, shape.parts, "a size is a whole number") if shape is not None and shape.parts else None


def _told(site: Site, given: list[Value], why: str) -> Finding | None:
    flat = [part for one in given for part in (one.parts if one.kind == "sequence" and one.parts else [one])]
    for value in flat:
        source = _array(value)
        if source is not None:
            return tell.found(
                "frombuffer-is-array",
                site,
                chain=[
                    tell.because(source, "frombuffer gives an array, here of one element"),
                    tell.because(site.node, why, site.spot.file),
                ],
                fixes=[
                    Fix(
                        "take the element: np.frombuffer(...)[0]",
                        (tell.insert_after(source.unit, source.node, "[0]"),) if source.unit is not None else (),
                    )
                ],
            )
    return None


def _array(value: Value) -> Value | None:
    """The frombuffer that a value is, or is a product or sum with."""
    for _ in range(6):
        value = itself(value)
        if value.op == "api:numpy.frombuffer":
            return value
        if value.op not in ("mul", "add", "sub", "floordiv") or not value.inputs:
            return None
        value = next((one for one in value.inputs if one.kind == "array"), value.inputs[0])
    return None
