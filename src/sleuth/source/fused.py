"""Writes the fused function in place of two calls, one inside the other: log(softmax(x)) becomes log_softmax(x)."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Edit
from sleuth.source import tell
from sleuth.source.scopes import File
from sleuth.source.sites import Site
from sleuth.source.values import Value

_LAST_NAMES: Final = {
    "torch": ("torch.nn.functional", "torch.special", "torch"),
    "tensorflow": ("tensorflow.nn", "tensorflow.math", "tensorflow"),
    "jax": ("jax.nn", "jax.numpy", "jax.lax"),
    "keras.backend": ("keras.backend",),
    "keras.ops": ("keras.ops",),
}


def argument_node(call: ast.AST) -> ast.expr | None:
    """What `f(x)` or `x.f()` is applied to."""
    if not isinstance(call, ast.Call):
        return None
    if call.args and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) and not call.keywords else None


def only_argument(file: File, call: ast.AST | None) -> str | None:
    """The text of the one argument of `f(x)` or `x.f()`, in parentheses where it needs them."""
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) > 1:
        return None
    node = argument_node(call)
    if node is None:
        return None
    text = file.source(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
    return text if simple else f"({text})"


def prefix(file: File, call: ast.AST | None, api: str) -> tuple[str, str] | None:
    """How the file writes the framework of a call: ("torch", "F") for `F.softmax`."""
    func = call.func if isinstance(call, ast.Call) else None
    if not isinstance(func, ast.Attribute) or not api:
        return None
    namespace = api.rpartition(".")[0]
    framework = next((name for name, spaces in _LAST_NAMES.items() if namespace in spaces), None)
    written = file.source(func.value)
    if framework == "tensorflow" and written.count(".") != namespace.count("."):
        return None  # `from tensorflow import math`: how the whole package is called here we do not know
    return None if framework is None else (framework, written)


def other_name(file: File, call: ast.Call, new: str) -> str | None:
    """A call of `some.softmax(...)` with another last name and the same arguments."""
    func = call.func
    if not isinstance(func, ast.Attribute):
        return None
    written, head = file.source(call), file.source(func)
    return f"{head[: -len(func.attr)]}{new}{written[len(head) :]}"


def directly_inside(site: Site, inner: Value) -> ast.Call | None:
    """The call that made a value, if it is written as the argument of this very call."""
    node = argument_node(site.node)
    return node if node is not None and node is inner.node and isinstance(node, ast.Call) else None


def edit(site: Site, text: str | None) -> tuple[Edit, ...]:
    """Write something else in place of the call, unless a comment inside it would be lost."""
    if text is None or site.spot.file.source(site.node).count("#") != text.count("#"):
        return ()
    return (tell.replace(site.spot.file, site.node, text),)
