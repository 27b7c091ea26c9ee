"""`x == nan`, which is never true."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Comparison
from sleuth.source.values import Value

_TAKES = {"torch": ("tensor",), "jax": ("tensor",), "numpy": ("array", "number"), "math": ("number",)}


def comparison(c: Comparison) -> Finding | None:
    if not isinstance(c.operator, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
        return None
    nan, other = (c.right, c.left) if _is_nan(c.right) else (c.left, c.right)
    if not _is_nan(nan) or _is_nan(other):
        return None
    identity = isinstance(c.operator, ast.Is | ast.IsNot)
    if identity and other.kind not in ("tensor", "array") and other.op.startswith("param:"):
        # A default of np.nan is asked for by identity, and rightly.
        return None
    always = "True" if isinstance(c.operator, ast.NotEq | ast.IsNot) else "False"
    return tell.found(
        "nan-compared-with-equals",
        c,
        title=f"comparison with NaN is always {always}" if not identity else "NaN asked for by identity",
        certainty="likely" if identity else "certain",
        severity="warning" if identity else "error",
        chain=[tell.because(c.node, "NaN is not equal to anything, itself included", c.spot.file)],
        fixes=[_fix(c, nan, other, identity)],
    )


def _is_nan(value: Value) -> bool:
    number = value.number()
    return number is not None and number != number


def _fix(c: Comparison, nan: Value, other: Value, identity: bool) -> Fix:
    file, package = c.spot.file, nan.node
    simple = len(c.node.ops) == 1 and isinstance(c.operator, ast.Eq) and other.node is not None
    operand = c.node.left if nan is c.right else c.node.comparators[0]
    if not simple or not isinstance(package, ast.Attribute) or nan.kind != "api":
        return Fix("ask with isnan(x)")
    text = f"{file.source(package.value)}.isnan({file.source(operand)})"
    # isnan of another package may refuse what it is given: np.isnan a tensor on the GPU.
    safe = other.kind in _TAKES.get(nan.api.partition(".")[0], ())
    return Fix("ask with isnan", (tell.replace(file, c.node, text),), safe=safe)
