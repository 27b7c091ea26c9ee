"""`loss.data[0]`: a tensor without dimensions has no element 0."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.guards import around, is_guarded
from sleuth.source.changes.naming import is_elsewhere
from sleuth.source.operations import LOSSES
from sleuth.source.scopes import File
from sleuth.source.sites import Site
from sleuth.source.targets import allowed_for
from sleuth.source.values import Value, made_by

OPERATIONS = ("index",)
# PyTorch 0.4 gave losses no dimensions; before, they had one element.
_SCALARS_SINCE = (0, 4)
_WHOLE = ("sum", "mean", "max", "min", "prod", "norm")


def operation(site: Site) -> Finding | None:
    node, file = site.node, site.spot.file
    if site.args[1].const != 0 or not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
        return None
    inner = _without_data(node.value)
    base = node.value if inner is None else inner
    if not _is_scalar(site.args[0]) and (inner is None or not _starts_backward(file, inner)):
        return None
    if is_elsewhere(site.spot) or is_guarded(file, node) or not allowed_for(file, "torch").always_has(_SCALARS_SINCE):
        return None
    edit = tell.replace(file, node, f"{file.source(base)}.item()")
    return tell.found(
        "index-of-scalar-tensor", site, fixes=[Fix("take its number with .item()", (edit,), safe=inner is not None)]
    )


def _without_data(node: ast.expr) -> ast.expr | None:
    """The tensor of `tensor.data`."""
    return node.value if isinstance(node, ast.Attribute) and node.attr == "data" else None


def _is_scalar(value: Value) -> bool:
    """Surely a torch tensor without dimensions: a loss that takes means or sums, or a reduction over everything."""
    if value.kind != "tensor":
        return False
    loss = made_by(value, *LOSSES)
    if loss is not None:
        # What a loss object made has the object as its last input.
        api = loss.api or (loss.inputs[-1].api if loss.inputs else "")
        kept = loss.option("reduction", "reduce", "size_average")
        return api.startswith("torch.") and (kept is None or kept.const in ("mean", "sum"))
    reduced = made_by(value, *_WHOLE)
    return reduced is not None and reduced.api.startswith("torch.") and len(reduced.inputs) == 1 and not reduced.options


def _starts_backward(file: File, base: ast.expr) -> bool:
    """Is `.backward()` called on the same expression, without a gradient? Then it is a scalar."""
    text = file.source(base)
    scope = next(
        (one for one, _ in around(file, base) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)), file.tree
    )
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
        and not node.args
        and all(keyword.arg == "retain_graph" for keyword in node.keywords)
        and file.source(node.func.value) == text
        for node in ast.walk(scope)
    )
