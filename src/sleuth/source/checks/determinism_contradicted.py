"""Deterministic algorithms are asked for, and cuDNN is told to pick the fastest by trial."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import File
from sleuth.source.sites import Spot


class _Here:
    """A statement as a place to point at."""

    def __init__(self, file: File, node: ast.AST) -> None:
        self.node = node
        self.spot = Spot(file, None, (), (), (), (), (), ())


def file(file: File) -> list[Finding]:
    if "cudnn" not in file.text:
        return []
    found = []
    for body in _bodies(file.tree):
        asked = _switched_on(body, ("deterministic",)) or _switched_on_by_call(body)
        fastest = _switched_on(body, ("benchmark",))
        if asked is None or fastest is None:
            continue
        found.append(
            tell.found(
                "determinism-contradicted",
                _Here(file, fastest),
                severity="warning",
                certainty="likely",
                chain=[
                    tell.because(asked, "deterministic algorithms are asked for", file),
                    tell.because(fastest, "cuDNN may choose another algorithm in each run", file),
                ],
                fixes=[
                    Fix(
                        "set torch.backends.cudnn.benchmark to False",
                        (tell.replace(file, fastest.value, "False"),) if isinstance(fastest, ast.Assign) else (),
                    )
                ],
            )
        )
    return found


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    """Runs of statements that all happen: a file's, a function's, a branch's."""
    return [
        getattr(node, name)
        for node in ast.walk(tree)
        for name in ("body", "orelse")
        if isinstance(getattr(node, name, None), list)
    ]


def _switched_on(body: list[ast.stmt], names: tuple[str, ...]) -> ast.Assign | None:
    last = None
    for statement in body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            for target in statement.targets:
                if isinstance(target, ast.Attribute) and target.attr in names and "cudnn" in ast.unparse(target.value):
                    last = statement if statement.value.value is True else None
    return last


def _switched_on_by_call(body: list[ast.stmt]) -> ast.stmt | None:
    for statement in body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "use_deterministic_algorithms"
            and call.args
            and isinstance(call.args[0], ast.Constant)
            and call.args[0].value is True
        ):
            return statement
    return None
