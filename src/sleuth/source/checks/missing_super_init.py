"""A network whose `__init__` never calls that of its framework, or gives it layers before it does."""

from __future__ import annotations

import ast
import os

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import ClassInfo, FunctionInfo
from sleuth.source.values import Value
from sleuth.source.weights import is_parameter, is_torch_module

# Files of transformers from which the real ones are written: nobody imports them.
_TEMPLATES = "modular_"
_BASES = ("torch.nn.Module", "lightning.LightningModule", "keras.Model", "keras.layers.Layer")


def klass(cls: ClassInfo, instance: Value) -> Finding | None:
    initialiser = cls.methods.get("__init__")
    if initialiser is None or cls.has_unknown_base() or not cls.derives_from(*_BASES):
        return None
    if any(one.node.keywords for one in cls.lineage()):
        # A metaclass may call it.
        return None
    if (
        os.path.basename(cls.file.path).startswith(_TEMPLATES)
        or cls.method("__call__") is not None
        or _is_for_types_only(cls)
        or _calls_another_class(cls)
    ):
        return None
    body = initialiser.body()
    called = next((i for i, statement in enumerate(body) if _mentions_init(statement)), None)
    if called is None:
        # Without layers, and never called, such a class does work.
        if not _needs_it(cls, instance):
            return None
        return _told(cls, initialiser, initialiser.node, "no __init__ of its base class is ever called")
    for statement in body[:called]:
        name = _layer_given(statement, instance)
        if name is not None:
            return _told(cls, initialiser, statement, f"self.{name} is set before super().__init__()")
    return None


def _needs_it(cls: ClassInfo, instance: Value) -> bool:
    """Does it hold layers or parameters, or is it called?"""
    if any(is_torch_module(value) or is_parameter(value) for value in instance.attrs.values()):
        return True
    return any(name in ("forward", "call", "training_step") for name in cls.methods)


def _mentions_init(statement: ast.AST) -> bool:
    return any(
        (isinstance(node, ast.Attribute) and node.attr in ("__init__", "__setstate__"))
        or (isinstance(node, ast.Name) and node.id == "super")
        for node in ast.walk(statement)
    )


def _calls_another_class(cls: ClassInfo) -> bool:
    """A method of it may call the base for it, or its state may be copied from elsewhere."""
    return any(
        name != "__init__" and "super().__init__" in cls.file.source(method.node)
        for name, method in cls.methods.items()
    ) or "__dict__" in cls.file.source(cls.methods["__init__"].node)


def _is_for_types_only(cls: ClassInfo) -> bool:
    body = cls.methods["__init__"].body()
    return all(isinstance(one, ast.Expr | ast.Pass | ast.Raise) for one in body)


def _layer_given(statement: ast.stmt, instance: Value) -> str | None:
    """The attribute of self that a statement gives a layer or parameter."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not (isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"):
        return None
    value = instance.attrs.get(target.attr)
    given = value is not None and value.node is statement.value and (is_torch_module(value) or is_parameter(value))
    return target.attr if given else None


def _told(cls: ClassInfo, initialiser: FunctionInfo, node: ast.AST, what: str) -> Finding:
    return tell.found(
        "missing-super-init",
        cls.file,
        node=node,
        title=f"{cls.name}: {what}",
        chain=[
            tell.because(
                cls.node, f"{cls.name} derives from {_base(cls)}, which keeps its layers in tables of its own", cls.file
            )
        ],
        fixes=[Fix("call super().__init__() first", (_first_line(cls, initialiser),), safe=True)]
        if "never" in what
        else [Fix("move super().__init__() to the top of __init__")],
    )


def _base(cls: ClassInfo) -> str:
    return next(base for base in cls.framework_bases() if base in _BASES)


def _first_line(cls: ClassInfo, initialiser: FunctionInfo) -> Edit:
    body = initialiser.body()
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(body) > 1:
        first = body[1]
    return tell.insert_statement_before(cls.file, first, "super().__init__()")
