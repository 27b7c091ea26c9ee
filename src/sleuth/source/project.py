"""The user's project: which file an import means, and what it defines. Files are read when they are asked for."""

from __future__ import annotations

import ast
import os
import tokenize
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sleuth.program import shown_path
from sleuth.source import names
from sleuth.source.listeners import SILENT
from sleuth.source.scopes import File
from sleuth.source.values import Value

# Always read as frameworks, even inside their own sources: their files say less than what we know of them.
_FRAMEWORKS = frozenset(
    "torch numpy jax tensorflow keras math random os sys copy itertools functools collections typing time warnings abc "
    "builtins contextlib dataclasses multiprocessing scipy sklearn pandas".split()
)
# A chain of re-exports longer than this goes in a circle.
_LONGEST_CHAIN = 12
# A file longer than this is data or generated; reading it for one name would cost more than it tells.
_LARGEST = 1_500_000
# Trees take a hundred times the room of their text.
_MOST_TREES = 300


class Project:
    """One for a process; holds every file that was read for the sake of another."""

    def __init__(self, root: Path) -> None:
        self.root = str(root.absolute())
        self.overlay: dict[str, str] = {}
        self.targets: dict[str, str] = {}
        self._files: dict[str, File | None] = {}
        self._shown: dict[str, File] = {}
        self._paths: dict[tuple[str, str], str | None] = {}
        self._exists: dict[str, bool] = {}
        self._imports: dict[str, set[str]] = {}
        self._trees: dict[str, tuple[str, ast.Module]] = {}

    def forget(self, path: str | None = None) -> None:
        """A file changed (or any): read it again when it is next asked for."""
        self._files.clear()
        self._shown.clear()
        self._paths.clear()
        self._exists.clear()
        self._imports.clear()

    def package_of(self, path: str) -> tuple[str, str, str]:
        """The dotted name of a file's module, its package, and the folder its imports start from."""
        folder, name = os.path.split(path)
        parts: list[str] = []
        while self._is_file(os.path.join(folder, "__init__.py")):
            folder, last = os.path.split(folder)
            parts.insert(0, last)
            if not last:
                break
        stem = name.removesuffix(".py")
        package = ".".join(parts)
        module = package if stem == "__init__" else ".".join((*parts, stem))
        return module, package, folder

    def absolute(self, file: File, module: str, level: int) -> str:
        """The absolute name a relative import means."""
        if level == 0:
            return module
        package = file.package.split(".") if file.package else []
        base = package[: len(package) - (level - 1)] if level > 1 else package
        name = ".".join((*base, *([module] if module else [])))
        # A script's folder without __init__.py: `from .model import Net` still means the file beside it.
        return name or module

    def owns(self, root: str, file: File) -> bool:
        """Is a top-level name the project's own package, rather than the library of that name?"""
        return root not in _FRAMEWORKS and self._path(root, file) is not None

    def has(self, dotted: str, file: File) -> bool:
        return self._locate(dotted, file) is not None

    def settle(self, value: Value, depth: int = 0) -> Value:
        """What an imported name of the project really is."""
        if value.kind != "pending" or depth > _LONGEST_CHAIN:
            return value
        found = self._resolve(value, depth)
        if found is None or found.kind == "pending":
            value.kind = "?"
            return value
        value.become(found)
        return value

    def _resolve(self, value: Value, depth: int) -> Value | None:
        located = self._locate(value.raw, value.unit)
        if located is None:
            return None
        path, rest = located
        file = self.load(path, value.unit)
        if file is None:
            return None
        if not rest:
            package = Value("package", value.node)
            package.attrs = file.globals
            return package
        found = file.globals.get(rest[0])
        if found is value:
            return None
        if found is None:
            return None
        found = self.settle(found, depth + 1)
        for name in rest[1:]:
            inner = found.attrs.get(name)
            if inner is None:
                return None
            found = self.settle(inner, depth + 1)
        return found

    def globals_of(self, dotted: str, file: File) -> Mapping[str, Value]:
        located = self._locate(dotted, file)
        loaded = self.load(located[0], file) if located is not None and not located[1] else None
        return {} if loaded is None else loaded.globals

    def load(self, path: str, asker: File) -> File | None:
        """A file of the project, its own statements read; None where it cannot be."""
        self._imports.setdefault(asker.path, set()).add(path)
        if path in self._files:
            return self._files[path]
        self._files[path] = None
        text = self.overlay.get(path)
        try:
            if text is None:
                if os.path.getsize(path) > _LARGEST:
                    return None
                with tokenize.open(path) as stream:
                    text = stream.read()
            tree = self.parse(path, text)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        from sleuth.source.interpreter import Interpreter

        file = self.file(path, shown_path(path), text, tree)
        self._files[path] = file
        self._shown[file.shown] = file
        reader = Interpreter(file, self, SILENT)
        # Only what it defines is wanted; what its own calls would do is not followed.
        reader.fuel = 0
        with suppress(RecursionError):
            reader.read_body()
        return file

    def parse(self, path: str, text: str) -> ast.Module:
        """The tree of a file, parsed once for itself and for those that import it. Raises what `ast.parse` raises."""
        known = self._trees.get(path)
        if known is not None and known[0] == text:
            return known[1]
        with warnings.catch_warnings():
            # An invalid escape in the user's text is not for us to say.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        if len(self._trees) >= _MOST_TREES:
            self._trees.pop(next(iter(self._trees)))
        self._trees[path] = (text, tree)
        return tree

    def read_as(self, shown: str) -> File | None:
        """The file that was read for the sake of another, by the path it is shown with."""
        return self._shown.get(shown)

    def file(self, path: str, shown: str, text: str, tree: ast.Module) -> File:
        module, package, _ = self.package_of(path)
        made = File(path, shown, text, tree, module, package)
        made.project = self
        return made

    def dependencies(self, path: str) -> tuple[str, ...]:
        """The files that were read, directly or not, for the sake of one."""
        found: set[str] = set()
        todo = list(self._imports.get(path, ()))
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo += self._imports.get(one, ())
        found.discard(path)
        return tuple(sorted(found))

    def _locate(self, dotted: str, file: File) -> tuple[str, list[str]] | None:
        """The file that defines a dotted name, and what of the name remains inside it."""
        if dotted.partition(".")[0] in names.ROOTS and dotted.partition(".")[0] in _FRAMEWORKS:
            return None
        parts = dotted.split(".")
        for length in range(len(parts), 0, -1):
            path = self._path(".".join(parts[:length]), file)
            if path is not None:
                return path, parts[length:]
        return None

    def _path(self, module: str, file: File) -> str | None:
        folder = os.path.dirname(file.path)
        key = (module, folder)
        if key not in self._paths:
            self._paths[key] = self._search(module, file, folder)
        return self._paths[key]

    def _search(self, module: str, file: File, folder: str) -> str | None:
        _, _, start = self.package_of(file.path)
        relative = module.replace(".", os.sep)
        for base in dict.fromkeys((start, folder, self.root, os.path.join(self.root, "src"))):
            for candidate in (os.path.join(base, relative + ".py"), os.path.join(base, relative, "__init__.py")):
                if self._is_file(candidate) and candidate != file.path:
                    return candidate
        return None

    def _is_file(self, path: str) -> bool:
        known = self._exists.get(path)
        if known is None:
            known = self._exists[path] = path in self.overlay or os.path.isfile(path)
        return known
