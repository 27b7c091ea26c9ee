"""The line of the user's source that makes a layer or a parameter, found from its dotted name."""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from sleuth.findings import Place
from sleuth.program import is_users, shown_path


def place_of_layer(model: Any, name: str) -> Place | None:
    """Where `self.encoder = ...` stands for `encoder.0.weight`, as near to the part as the source tells."""
    found = maker_of_layer(model, name)
    return _place(*found) if found is not None else None


def maker_of_layer(model: Any, name: str) -> tuple[str, ast.expr] | None:
    """The file and the expression of that assignment's value."""
    found: tuple[str, ast.expr] | None = None
    part = model
    for step in name.split("."):
        assigned = _assignment(type(part), step)
        if assigned is not None:
            found = assigned
        elif found is not None and step.isdigit():
            found = (found[0], _element(found[1], int(step)))
        part = getattr(part, step, None) if not step.isdigit() else _child(part, step)
        if part is None:
            break
    return found


def _child(part: Any, name: str) -> Any:
    return getattr(part, "_modules", {}).get(name, getattr(part, name, None))


def _assignment(kind: type, attribute: str) -> tuple[str, ast.expr] | None:
    """The file and the value of `self.attribute = value` in the class or one it derives from."""
    found = assignment_of(kind, attribute)
    return None if found is None or found[1].value is None else (found[0], found[1].value)


def assignment_of(kind: type, attribute: str) -> tuple[str, ast.Assign | ast.AnnAssign] | None:
    """The file and that statement itself."""
    for base in kind.__mro__:
        filename = getattr(sys.modules.get(base.__module__), "__file__", None)
        if filename is None or not is_users(filename):
            continue
        body = _class_body(filename, base.__qualname__)
        for node in ast.walk(body) if body is not None else ():
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Attribute) and target.attr == attribute for target in targets):
                    return filename, node
    return None


@lru_cache(maxsize=512)
def _class_body(filename: str, qualname: str) -> ast.ClassDef | None:
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return None
    return next((node for path, node in _classes(tree, "") if path == qualname), None)


def _classes(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.ClassDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield prefix + child.name, child
            yield from _classes(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _classes(child, f"{prefix}{child.name}.<locals>.")
        else:
            yield from _classes(child, prefix)


def _element(node: ast.expr, index: int) -> ast.expr:
    """The part with this number in `nn.Sequential(a, b)` or `nn.ModuleList([a, b])`, where it is written out."""
    parts = node.args if isinstance(node, ast.Call) else []
    if len(parts) == 1 and isinstance(parts[0], ast.List | ast.Tuple):
        parts = parts[0].elts
    if any(isinstance(part, ast.Starred) for part in parts) or index >= len(parts):
        return node
    return parts[index]


def _place(filename: str, node: ast.expr) -> Place:
    text = ast.get_source_segment("".join(linecache.getlines(filename)), node)
    code = " ".join(text.split()) if text else None
    return Place(shown_path(filename), node.lineno, node.col_offset + 1, node.end_lineno, code)
