"""Files, classes and functions of the user's project, as the interpreter knows them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleuth.source.values import Value

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# The classes of frameworks from which people derive their networks.
MODULE_BASES = frozenset(
    "torch.nn.Module torch.nn.Sequential torch.nn.ModuleList torch.nn.ModuleDict torch.jit.ScriptModule "
    "lightning.LightningModule keras.Model keras.Sequential keras.layers.Layer keras.models.Model flax.linen.Module "
    "tensorflow.Module transformers.PreTrainedModel haiku.Module equinox.Module".split()
)
# The method that a call of an instance runs.
CALLED = ("forward", "__call__", "call")


class File:
    """One parsed file of the project."""

    __slots__ = (
        "cell_ends",
        "classes",
        "functions",
        "globals",
        "lines",
        "module",
        "package",
        "path",
        "project",
        "shown",
        "text",
        "tree",
    )

    def __init__(self, path: str, shown: str, text: str, tree: ast.Module, module: str = "", package: str = "") -> None:
        self.path = path
        self.project: Any = None
        self.shown = shown
        self.text = text
        self.tree = tree
        self.module = module  # its dotted name, "" where unknown
        self.package = package  # what a relative import of it starts from
        self.lines: list[str] = text.split("\n")
        self.globals: dict[str, Value] = {}
        self.functions: list[FunctionInfo] = []
        self.classes: list[ClassInfo] = []
        self.cell_ends: frozenset[int] = frozenset()

    def __repr__(self) -> str:
        return f"<File {self.shown}>"

    @property
    def is_test(self) -> bool:
        """Test code: odd numbers and shapes are there on purpose."""
        folder, _, name = self.path.replace("\\", "/").rpartition("/")
        stem = name.removesuffix(".py")
        if stem.startswith("test_") or stem.endswith(("_test", "_tests")) or stem in ("conftest", "tests"):
            return True
        top = f"/{self.package.replace('.', '/')}" if self.package else ""
        inside = {*folder.rpartition("/")[2:], *top.split("/")}
        return not inside.isdisjoint(("tests", "test", "testing"))

    def source(self, node: ast.AST) -> str:
        """The text of a node, as written."""
        start, stop = self.span(node)
        first, last = start[0] - 1, stop[0] - 1
        if last >= len(self.lines):
            # A node of another file has no text here.
            return ""
        if first == last:
            return self.lines[first][start[1] - 1 : stop[1] - 1]
        middle = self.lines[first + 1 : last]
        return "\n".join((self.lines[first][start[1] - 1 :], *middle, self.lines[last][: stop[1] - 1]))

    def span(self, node: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        """Where a node starts and ends: 1-based lines and columns in characters, the end exclusive."""
        return (
            (node.lineno, self.column(node.lineno, node.col_offset)),
            (node.end_lineno, self.column(node.end_lineno, node.end_col_offset)),
        )

    def column(self, line: int, offset: int) -> int:
        """`ast` counts bytes; people and editors count characters."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return (offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))) + 1


class FunctionInfo:
    """A function, method or lambda of the project."""

    __slots__ = ("cls", "decorators", "enclosing", "file", "followed", "name", "node")

    def __init__(self, node: Function, file: File, cls: ClassInfo | None, enclosing: dict[str, Value]) -> None:
        self.node = node
        self.name: str = getattr(node, "name", "<lambda>")
        self.file = file
        self.cls = cls
        self.enclosing = enclosing  # names of the scopes around it
        self.followed = False  # has a call been read that tells something of the arguments?
        self.decorators: list[Value] = []

    def __repr__(self) -> str:
        return f"<Function {self.name}>"

    @property
    def is_method(self) -> bool:
        return self.cls is not None and not self.decorated_with("staticmethod")

    def decorated_with(self, *names: str) -> bool:
        return any(value.api in names or value.raw in names for value in self.decorators)

    def contains(self, node: ast.AST | None) -> bool:
        """Does a node of its file stand inside it?"""
        return self.node.lineno <= getattr(node, "lineno", 0) <= (self.node.end_lineno or 0)

    def parameters(self) -> list[ast.arg]:
        arguments = self.node.args
        return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    def body(self) -> list[ast.stmt]:
        return [ast.Return(self.node.body)] if isinstance(self.node, ast.Lambda) else self.node.body


class ClassInfo:
    """A class of the project."""

    __slots__ = ("_lineage", "_methods", "_module", "attrs", "bases", "file", "methods", "name", "node")

    def __init__(self, node: ast.ClassDef, file: File) -> None:
        self.node = node
        self.name = node.name
        self.file = file
        self.bases: list[Value] = []
        self.methods: dict[str, FunctionInfo] = {}
        self.attrs: dict[str, Value] = {}  # of the class itself
        self._lineage: tuple[ClassInfo, ...] | None = None
        self._methods: dict[str, FunctionInfo | None] = {}
        self._module: bool | None = None

    def __repr__(self) -> str:
        return f"<Class {self.name}>"

    def lineage(self) -> tuple[ClassInfo, ...]:
        """The class and its bases in the project, nearest first."""
        if self._lineage is None:
            found: list[ClassInfo] = []
            todo = [self]
            while todo:
                one = todo.pop(0)
                if one not in found:
                    found.append(one)
                    todo += [base.info for base in one.bases if isinstance(base.info, ClassInfo)]
            self._lineage = tuple(found)
        return self._lineage

    def method(self, name: str) -> FunctionInfo | None:
        if name not in self._methods:
            self._methods[name] = next((one.methods[name] for one in self.lineage() if name in one.methods), None)
        return self._methods[name]

    def framework_bases(self) -> list[str]:
        """The framework classes it derives from, directly or not."""
        return [base.api for one in self.lineage() for base in one.bases if base.kind == "api"]

    def derives_from(self, *names: str) -> bool:
        return any(base in names for base in self.framework_bases())

    def is_module(self) -> bool:
        if self._module is None:
            self._module = any(base in MODULE_BASES for base in self.framework_bases())
        return self._module

    def has_unknown_base(self) -> bool:
        """Is there a base of which nothing is known? Then it may do anything."""
        return any(base.kind not in ("api", "class") for one in self.lineage() for base in one.bases)

    def called(self) -> FunctionInfo | None:
        """The method that runs when an instance is called."""
        return next((found for name in CALLED if (found := self.method(name)) is not None), None)
