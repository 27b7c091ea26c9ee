"""A plain tensor as an attribute of a network, used in `forward`: `.to(device)` leaves it behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import strays, tell
from sleuth.source.scopes import ClassInfo
from sleuth.source.values import Value
from sleuth.source.weights import is_torch_class

# Methods and attributes of a tensor that do not combine it with another one, or move it first.
_HARMLESS = (
    "to",
    "cuda",
    "cpu",
    "type_as",
    "type",
    "device",
    "shape",
    "size",
    "dtype",
    "item",
    "tolist",
    "numel",
    "dim",
    "ndim",
    "clone",
)


def klass(cls: ClassInfo, instance: Value) -> Iterator[Finding]:
    if not is_torch_class(cls) or "forward" not in cls.methods:
        return
    initialiser = cls.methods.get("__init__")
    for name, value in instance.attrs.items():
        made = strays.maker(value)
        if made is None or made.unit is not cls.file or initialiser is None:
            continue
        trained = made.option("requires_grad") is not None and made.grad is True
        if not trained and not _moves(cls):
            continue
        if _is_kept_in_place(cls, name) or _combined(cls.methods["forward"].node, name) is None:
            continue
        yield _told(cls, name, made, trained)


def _moves(cls: ClassInfo) -> bool:
    """Does a network of this class go to a device here: is it made in the file, or does it speak of devices itself?"""
    if not strays.uses_a_gpu(cls.file) or cls.file.is_test:
        return False
    text = cls.file.source(cls.node)
    return "device" in text or "cuda" in text or f"{cls.name}(" in cls.file.text.replace(text, "")


def _is_kept_in_place(cls: ClassInfo, name: str) -> bool:
    """Registered, or moved by hand somewhere in the class or its bases."""
    text = "\n".join(one.file.source(one.node) for one in cls.lineage())
    registered = any(f"{quote}{name}{quote}" in text for quote in "'\"")
    moved = any(f"self.{name}{rest}" in text for rest in (".to(", ".cuda(", ".type_as(", ".type("))
    return registered or moved or "def _apply" in text or "def to(" in text or "def cuda(" in text or "_buffers" in text


def _combined(forward: ast.AST, name: str) -> ast.AST | None:
    """Where `self.name` is an operand beside something else."""
    for node in ast.walk(forward):
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp) and not isinstance(node.left, ast.Constant):
            operands = [node.left, node.right] if not isinstance(node.right, ast.Constant) else []
        elif isinstance(node, ast.Call) and _is_of_torch(node.func) and len(node.args) > 1:
            operands = node.args
        if any(_is_attribute(one, name) for one in operands):
            return node
    return None


def _is_of_torch(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in ("torch", "F")
    )


def _is_attribute(node: ast.AST, name: str) -> bool:
    """`self.name`, also a part or another view of it."""
    while True:
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in _HARMLESS:
            node = node.func.value
        else:
            break
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _set(cls: ClassInfo, name: str) -> ast.AST | None:
    """The statement of __init__ that gives the attribute its value."""
    for node in ast.walk(cls.methods["__init__"].node):
        if isinstance(node, ast.Assign) and any(_is_attribute(target, name) for target in node.targets):
            return node
    return None


def _told(cls: ClassInfo, name: str, made: Value, trained: bool) -> Finding:
    used = _combined(cls.methods["forward"].node, name)
    what = "nn.Parameter(...)" if trained else f'self.register_buffer("{name}", ...)'
    return tell.found(
        "tensor-attribute-not-buffer",
        cls.file,
        node=_set(cls, name) or made.node,
        title=f"self.{name} requires grad and is no nn.Parameter: no optimiser finds it"
        if trained
        else f"self.{name} is a plain tensor: it stays on the CPU when the network moves",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(made, "made here, without a device: on the CPU"),
            *([tell.because(used, "forward combines it with what moves", cls.file)] if used is not None else []),
        ],
        fixes=[Fix(what)],
    )
