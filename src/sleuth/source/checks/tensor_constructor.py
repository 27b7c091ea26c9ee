"""`torch.Tensor(5)`: five numbers that happened to lie in memory, not a tensor with a 5 in it."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = ("torch.Tensor",)
OPERATIONS = ("add", "sub", "mul", "div", "pow", "maximum", "minimum")


def call(site: Site) -> Finding | None:
    if len(site.node.args) != 1 or site.node.keywords or site.star:
        return None
    given = site.args[0]
    if isinstance(given.const, float):
        return tell.found(
            "tensor-constructor",
            site,
            title="torch.Tensor takes sizes or a list, not a number",
            fixes=[Fix("torch.tensor, which takes the number itself", (_renamed(site),), safe=True)],
        )
    if _is_list_of_integers(given) and isinstance(site.node.args[0], ast.List):
        code = site.spot.file.source(site.node.args[0])
        return tell.found(
            "tensor-constructor",
            site,
            certainty="hint",
            severity="note",
            title="torch.Tensor makes these whole numbers float32",
            fixes=[Fix(f"torch.tensor({code}) keeps them whole; with dtype=torch.float32 it is what you have now")],
        )
    return None


def operation(site: Site) -> Finding | None:
    """A number meant as a value: it is used at once, before anything could have filled the memory."""
    for operand in site.operands:
        if operand.op == "api:torch.Tensor" and _is_inside(operand.node, site.node) and len(operand.inputs) == 1:
            size = operand.inputs[0]
            if isinstance(size.const, int) and size.kind == "number":
                return tell.found(
                    "tensor-constructor",
                    site,
                    node=operand.node,
                    title=f"torch.Tensor({size.const}) is {size.const} numbers that nobody has set",
                    fixes=[Fix(f"torch.tensor({size.const}) is the number {size.const}")],
                )
    return None


def _is_inside(node: ast.AST | None, outer: ast.AST) -> bool:
    return isinstance(outer, ast.BinOp) and node in (outer.left, outer.right)


def _is_list_of_integers(value: Value) -> bool:
    parts = value.parts
    return value.kind == "sequence" and bool(parts) and all(type(part.const) is int for part in parts or ())


def _renamed(site: Site) -> Edit:
    file = site.spot.file
    _, (line, column) = file.span(site.node.func)
    return Edit(file.shown, line, column - len("Tensor"), line, column, "tensor")
