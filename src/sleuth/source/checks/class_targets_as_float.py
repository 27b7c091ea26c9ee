"""Targets of a type the loss refuses: class numbers as floats, or integers where probabilities are compared."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import labels, losses, tell
from sleuth.source.dtypes import FLOATS, INTEGERS
from sleuth.source.sites import Site
from sleuth.source.values import Value

OPERATIONS = ("cross_entropy", "nll_loss", "bce", "bce_with_logits")


def operation(site: Site) -> Finding | None:
    target = losses.target(site) if site.name.startswith("torch.") else None
    if target is None:
        return None
    dtype = target.dtype
    if site.op in ("bce", "bce_with_logits"):
        return _told(site, target, dtype, "float") if dtype in INTEGERS else None
    if dtype not in FLOATS or losses.is_quantity(target):
        # Quantities are no classes that only have the wrong type: that is another finding.
        return None
    # Floats of shape (N, C) are probabilities, which cross-entropy takes; a row of numbers is not.
    is_row = target.shape is not None and len(target.shape) == 1
    wrong = site.op == "nll_loss" or labels.encoding(target) == "numbers" or is_row
    return _told(site, target, dtype, "long") if wrong else None


def _told(site: Site, target: Value, dtype: str | None, wanted: str) -> Finding:
    needs = "class numbers as integers (torch.long)" if wanted == "long" else "targets of the same float type"
    return tell.found(
        "class-targets-as-float",
        site,
        title=f"the targets are {dtype}, the loss needs {'int64' if wanted == 'long' else 'float32'}",
        chain=[
            tell.because(target, f"the targets become {dtype} here"),
            tell.because(site.node, f"the loss needs {needs}", site.spot.file),
        ],
        fixes=[Fix(f"convert the targets with .{wanted}()", _converted(site, wanted))],
    )


def _converted(site: Site, wanted: str) -> tuple[Edit, ...]:
    """`y` becomes `y.long()`; where a conversion is written there already, it is replaced."""
    if len(site.node.args) < 2:
        return ()
    given, file = site.node.args[1], site.spot.file
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr in ("float", "long"):
        return (tell.replace(file, given, f"{file.source(given.func.value)}.{wanted}()"),)
    plain = isinstance(given, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return (tell.insert_after(file, given, f".{wanted}()"),) if plain else ()
