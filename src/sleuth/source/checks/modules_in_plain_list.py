"""Layers kept in a Python list or dict, where neither the optimiser nor `.to()` finds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import ClassInfo
from sleuth.source.values import Value
from sleuth.source.weights import holds_weights, is_torch_class

# Methods in which a network's layers are applied.
_APPLIED_IN = ("forward", "__call__", "encode", "decode", "training_step", "extract_features", "step")


def klass(cls: ClassInfo, instance: Value) -> Iterator[Finding]:
    if not is_torch_class(cls):
        return
    for name, value in instance.attrs.items():
        if value.kind not in ("sequence", "mapping") or not value.parts or value.unit is not cls.file:
            continue
        loose = [part for part in value.parts if holds_weights(part) and not _registered(part, instance)]
        if loose and not _hidden_on_purpose(value) and _is_used(cls, name) and not _is_cared_for(cls, name):
            yield _told(cls, name, value, loose[0])


def _registered(part: Value, instance: Value) -> bool:
    """Is the layer also an attribute, or inside one that torch looks into?"""
    for held in instance.attrs.values():
        if held is part or (held.kind == "module" and part in (held.parts or ())):
            return True
        if held.op == "phi" and part in held.inputs:
            return True
    return False


def _hidden_on_purpose(value: Value) -> bool:
    """`self.teacher = [teacher]` is how people keep a network out of `parameters()`."""
    node = value.node
    elements = node.elts if isinstance(node, ast.List | ast.Tuple) else []
    return len(elements) == 1 and isinstance(elements[0], ast.Name)


def _is_used(cls: ClassInfo, name: str) -> bool:
    """Does a method that computes speak of the attribute?"""
    return any(
        f"self.{name}" in cls.file.source(method.node)
        for one in cls.lineage()
        for title, method in one.methods.items()
        if one.file is cls.file
        and (title in _APPLIED_IN or title.startswith(("forward", "_forward", "get_", "compute")))
    )


def _is_cared_for(cls: ClassInfo, name: str) -> bool:
    """Are the layers registered by hand, or their parameters and devices looked after?"""
    text = cls.file.source(cls.node)
    words = (
        "add_module",
        "register_module",
        "setattr(",
        "parameters(",
        f"ModuleList(self.{name}",
        "__setattr__",
        "_modules",
    )
    if any(
        word in text
        for word in (*words, f"ModuleDict(self.{name}", f"*self.{name}", "def _apply", "def to(", "def cuda(")
    ):
        return True
    return (
        f".{name}" in cls.file.text.replace(text, "")
        and "parameters(" in cls.file.text.replace(text, "")
        and (f".{name}:" in cls.file.text or f".{name}]" in cls.file.text)
    )


def _told(cls: ClassInfo, name: str, value: Value, layer: Value) -> Finding:
    container = "ModuleList" if value.kind == "sequence" else "ModuleDict"
    kind = "list" if value.kind == "sequence" else "dict"
    return tell.found(
        "modules-in-plain-list",
        cls.file,
        node=value.node,
        title=f"the layers in self.{name} are kept in a plain {kind}: parameters() and to() do not see them",
        chain=[
            tell.because(layer, "a layer with weights goes into it"),
            tell.because(value, f"self.{name} is a Python {kind}, which torch does not look into"),
        ],
        fixes=[Fix(f"use nn.{container}", _wrapped(cls, value, container))],
    )


def _wrapped(cls: ClassInfo, value: Value, container: str) -> tuple[Edit, ...]:
    """Put the display into nn.ModuleList(...), where it is written out and `nn` is known."""
    known = cls.file.globals.get("nn")
    if (
        not isinstance(value.node, ast.List | ast.ListComp | ast.Dict | ast.DictComp)
        or known is None
        or known.api != "torch.nn"
    ):
        return ()
    return (tell.insert_before(cls.file, value.node, f"nn.{container}("), tell.insert_after(cls.file, value.node, ")"))
