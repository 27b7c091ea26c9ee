"""A method or function that is named where it should be called."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sleuth import handbook
from sleuth.findings import Finding, Fix
from sleuth.source import hyperparameters, tell, weights
from sleuth.source.scopes import File
from sleuth.source.sites import Discarded, Site
from sleuth.source.values import Value

CALLS = tuple(name for name in hyperparameters.OPTIMIZERS if name.startswith("torch."))
_OF_OPTIMIZER = ("zero_grad", "step")
_OF_NETWORK = ("eval", "train", "zero_grad")
_WORDS = (".is_available", ".is_bf16_supported", ".no_grad:", ".inference_mode:", ".enable_grad:")
_CONDITIONS = re.compile(r"\.(?:is_available|is_bf16_supported)\b(?!\s*\()|\.(?:no_grad|inference_mode|enable_grad):")
_ASKED = ("torch.cuda.is_available", "torch.backends.mps.is_available", "torch.cuda.is_bf16_supported")
_MANAGERS = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad")


def discarded(statement: Discarded) -> Finding | None:
    node, value = statement.node.value, statement.value
    if not isinstance(node, ast.Attribute) or statement.node.lineno in statement.spot.file.cell_ends:
        return None
    owner = value.inputs[0] if value.inputs else None
    if owner is None or not _has(owner, node.attr):
        return None
    return _told(statement.spot.file, node)


def _has(owner: Value, name: str) -> bool:
    if owner.kind == "optimizer":
        return name in _OF_OPTIMIZER
    if owner.kind == "tensor":
        return name == "backward"
    if owner.kind == "scheduler":
        return name == "step"
    return owner.kind in ("module", "instance") and name in _OF_NETWORK


def call(site: Site) -> Finding | None:
    """Adam(model.parameters)."""
    node = site.node
    first = node.args[0] if isinstance(node, ast.Call) and node.args else None
    owner = site.args[0].inputs[0] if site.args and site.args[0].inputs else None
    if isinstance(first, ast.Attribute) and first.attr == "parameters" and owner is not None:
        return _told(site.spot.file, first) if weights.is_torch_module(owner) else None
    return None


def file(file: File) -> Iterator[Finding]:
    """Conditions and `with`s; looked for only where the text has such a name without parentheses."""
    if not any(word in file.text for word in _WORDS) or not _CONDITIONS.search(file.text):
        return
    for node in ast.walk(file.tree):
        asked = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert) else []
        for test in asked:
            yield from (_told(file, one) for one in _terms(test) if _dotted(one, file) in _ASKED)
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if _dotted(item.context_expr, file) in _MANAGERS:
                    yield _told(file, item.context_expr)


def _terms(test: ast.expr) -> Iterator[ast.expr]:
    """What a condition is made of: the parts of and, or and not."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _terms(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _terms(test.operand)
    else:
        yield test


def _dotted(node: ast.expr, file: File) -> str:
    """The framework's name that an attribute spells, by the file's imports."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    known = file.globals.get(node.id) if isinstance(node, ast.Name) else None
    return ".".join([known.api, *reversed(parts)]) if known is not None and known.kind == "api" else ""


def _told(file: File, node: ast.expr) -> Finding:
    return handbook.finding(
        "missing-call-parentheses",
        place=tell.place(file, node),
        title=f"{file.source(node)} is named, not called",
        certainty="certain",
        severity="error",
        fixes=[Fix("add the parentheses", (tell.insert_after(file, node, "()"),), safe=True)],
    )
