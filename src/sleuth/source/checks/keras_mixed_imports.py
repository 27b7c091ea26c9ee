"""Layers, models or optimisers of `keras` and of `tensorflow.keras` in one file."""

from __future__ import annotations

import ast
import re
from typing import Any

from sleuth import handbook
from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import File

# Functions and data sets are the same in both. Of these there are classes, and each library knows only its own.
_CLASSES = "layers|models|optimizers|Model|Sequential|callbacks|losses|regularizers"
_MATTERS = re.compile(rf"(?:tensorflow\.(?:python\.)?)?keras\.(?:{_CLASSES})\b")
_TENSORFLOW = ("tensorflow.keras", "tensorflow.python.keras")
_BY_ATTRIBUTE = re.compile(rf"\btf\.keras\.(?:{_CLASSES})\b")


def file(file: File) -> Finding | None:
    imports = [found for statement in file.tree.body for found in _imported(statement)]
    plain = next((node for dotted, node in imports if dotted.startswith("keras.")), None)
    if plain is None:
        return None
    bundled = next((node for dotted, node in imports if dotted.startswith(_TENSORFLOW)), None) or _attribute(file)
    if bundled is None:
        return None
    return handbook.finding(
        "keras-mixed-imports",
        place=tell.place(file, plain),
        # From TensorFlow 2.16 on both are the same Keras; with older ones they are not.
        certainty="hint",
        severity="note",
        chain=[
            tell.because(plain, "these classes are those of the package keras", file),
            tell.because(bundled, "and these are TensorFlow's own", file),
        ],
        fixes=[Fix("import everything from one of them")],
    )


def _imported(statement: ast.stmt) -> list[tuple[str, ast.stmt]]:
    """What an import at the top of the file brings of classes of Keras."""
    if isinstance(statement, ast.ImportFrom) and not statement.level:
        names = [f"{statement.module}.{alias.name}" for alias in statement.names]
    elif isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    else:
        return []
    return [(name, statement) for name in names if _MATTERS.match(f"{name}.")]


def _attribute(file: File) -> Any:
    """The first use of `tf.keras.layers` and the like."""
    if _BY_ATTRIBUTE.search(file.text) is None:
        return None
    return next(
        (
            node
            for node in ast.walk(file.tree)
            if isinstance(node, ast.Attribute) and _BY_ATTRIBUTE.fullmatch(ast.unparse(node)) is not None
        ),
        None,
    )
