"""`x[i] = v` on a JAX array, which cannot be changed in place."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Assignment
from sleuth.source.values import Value, origins

# x[i] += v becomes x.at[i].add(v).
_METHODS = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power"}


def assignment(change: Assignment) -> Finding | None:
    if change.attribute or not _is_jax(change.base):
        return None
    return tell.found(
        "assignment-into-jax-array",
        change,
        chain=[tell.because(change.base, "a JAX array never changes once it is made")],
        fixes=[Fix("write x = x.at[index].set(value)", _rewritten(change), safe=True)],
    )


def _is_jax(value: Value) -> bool:
    found = list(origins(value))
    return bool(found) and all(
        one.kind == "tensor" and one.api.startswith(("jax.numpy.", "jax.random.")) for one in found
    )


def _rewritten(change: Assignment) -> tuple[Edit, ...]:
    file, node, target = change.spot.file, change.node, change.target
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return ()
    name = target.value.id
    index = file.source(target.slice)
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return (tell.replace(file, node, f"{name} = {name}.at[{index}].set({file.source(node.value)})"),)
    if isinstance(node, ast.AugAssign) and type(node.op) in _METHODS:
        method = _METHODS[type(node.op)]
        return (tell.replace(file, node, f"{name} = {name}.at[{index}].{method}({file.source(node.value)})"),)
    return ()
