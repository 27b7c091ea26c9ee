"""`history.history["acc"]`, or a callback that watches "val_acc", where the metric is called "accuracy"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.guards import is_guarded
from sleuth.source.scopes import File
from sleuth.source.targets import allowed_for

_OLD = re.compile(r"""["'](?:val_)?acc["']""")
_NAMES = {"acc": "accuracy", "val_acc": "val_accuracy"}
# Since Keras 2.3 (and in TensorFlow 2) a metric is kept under the name it was asked for by.
_SINCE = (2, 3)
_WATCHERS = frozenset({"EarlyStopping", "ModelCheckpoint", "ReduceLROnPlateau"})


def file(file: File) -> Iterator[Finding]:
    if "keras" not in file.text or not _OLD.search(file.text) or not _asks_for_accuracy(file):
        return
    if not allowed_for(file, "keras").always_has(_SINCE):
        return
    for node, what in _uses(file):
        if not is_guarded(file, node):
            new = _NAMES[str(node.value)]
            yield tell.found(
                "renamed-history-key",
                file,
                node=node,
                title=f"{what} {node.value!r}, and the metric is called {new!r}",
                fixes=[Fix(f"write {new}", (tell.replace(file, node, f'"{new}"'),), safe=True)],
            )


def _asks_for_accuracy(file: File) -> bool:
    """Is every metric list written out, with "accuracy" and never "acc"?"""
    asked: list[ast.expr] = [
        keyword.value
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
        for keyword in node.keywords
        if keyword.arg == "metrics"
    ]
    lists = [
        one for one in asked if isinstance(one, ast.List) and all(isinstance(item, ast.Constant) for item in one.elts)
    ]
    words = {item.value for one in lists for item in one.elts if isinstance(item, ast.Constant)}
    return bool(asked) and len(lists) == len(asked) and "accuracy" in words and "acc" not in words


def _uses(file: File) -> Iterator[tuple[ast.Constant, str]]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _is_history(node.value):
            if isinstance(node.slice, ast.Constant) and node.slice.value in _NAMES:
                yield node.slice, "the history is asked for"
        elif isinstance(node, ast.Call) and _last_name(node.func) in _WATCHERS:
            given = [keyword.value for keyword in node.keywords if keyword.arg == "monitor"]
            for value in given:
                if isinstance(value, ast.Constant) and value.value in _NAMES:
                    yield value, f"{_last_name(node.func)} watches"


def _is_history(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "history"


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
