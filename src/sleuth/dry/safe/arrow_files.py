"""Arrow's file system: what it would open, list and make in C++, Python's own functions do, which see both layers."""

from __future__ import annotations

import os
import sys
from typing import Any

from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.everywhere import Stand, replace
from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.patches import Patches

_MODULE = "pyarrow.fs"


def install(patches: Patches, changes: Changes, imports: AfterImport) -> None:
    imports.of(_MODULE, lambda: _redirect(patches))


def _redirect(patches: Patches) -> None:
    try:
        from fsspec.implementations.local import LocalFileSystem  # type: ignore[import-untyped]
    except ImportError:  # then what Arrow writes by itself is refused
        return
    arrow: Any = sys.modules[_MODULE]
    native = arrow.LocalFileSystem

    class Handler(arrow.FSSpecHandler):  # type: ignore[misc]
        """It tells absolute paths, so it is asked for them."""

        def normalize_path(self, path: str) -> str:
            return os.path.abspath(path)

    ours = arrow.PyFileSystem(Handler(LocalFileSystem()))
    resolve, ensure = arrow._resolve_filesystem_and_path, arrow._ensure_filesystem

    def redirected(filesystem: Any) -> Any:
        return ours if isinstance(filesystem, native) else filesystem

    def resolve_filesystem_and_path(path: Any, filesystem: Any = None, **options: Any) -> tuple[Any, Any]:
        found, rest = resolve(path, filesystem, **options)
        used = redirected(found)
        return used, os.path.abspath(rest) if used is ours else rest

    def ensure_filesystem(filesystem: Any, **options: Any) -> Any:
        return redirected(ensure(filesystem, **options))

    local = _Local(lambda *args, **options: ours, native, ours)
    stands = {native: local, resolve: resolve_filesystem_and_path, ensure: ensure_filesystem}
    # Not in Arrow's modules in C++, which ask whether it is a type.
    for name in (_MODULE, "pyarrow.dataset", "pyarrow.parquet.core", "pyarrow.orc"):
        if name in sys.modules:
            replace(patches, stands, name)


class _Local(Stand):
    """Stands for the class; what it makes is one of its instances."""

    def __init__(self, function: Any, original: Any, made: Any) -> None:
        super().__init__(function, original)
        self._made = made

    def __instancecheck__(self, one: object) -> bool:
        return one == self._made or super().__instancecheck__(one)
