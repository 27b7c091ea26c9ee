"""TensorFlow's own file system (`tf.io.gfile`, and whatever uses it in and around TensorFlow), led to both layers."""

from __future__ import annotations

import glob
import os
import shutil
import stat
import sys
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.changes import Changes
from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.patches import Patches

_MODULE = "tensorflow.python.lib.io._pywrap_file_io"
_LOOKING = ("FileExists", "IsDirectory", "Stat", "HasAtomicMove", "BufferedInputStream")


def install(patches: Patches, changes: Changes, imports: AfterImport) -> None:
    imports.of(_MODULE, lambda: _redirect(patches, changes))


def _redirect(patches: Patches, changes: Changes) -> None:
    module: Any = sys.modules[_MODULE]
    files = _Files(changes, module)
    acts = {name: files.looking(name) for name in _LOOKING} | {
        "WritableFile": files.opened_for_writing,
        "GetChildren": files.children,
        "CreateDir": files.make_folder,
        "RecursivelyCreateDir": files.make_folders,
        "DeleteFile": files.delete,
        "DeleteRecursively": files.delete_all,
        "CopyFile": files.copy,
        "RenameFile": files.rename,
    }
    for name, act in acts.items():
        if hasattr(module, name):
            patches.set(module, name, _on_places(changes, getattr(module, name), act))
    if hasattr(module, "GetMatchingFiles"):
        patches.set(module, "GetMatchingFiles", _matching(module.GetMatchingFiles))


def _on_places(changes: Changes, original: Callable[..., Any], act: Callable[..., Any]) -> Callable[..., Any]:
    """`act` with the place instead of the path, for paths of this file system; others are TensorFlow's business."""

    def call(path: Any, *rest: Any) -> Any:
        text = os.fsdecode(path)
        place = None if "://" in text else changes.layers.place(text)
        return original(path, *rest) if place is None else act(place, *rest)

    return call


def _matching(original: Callable[..., Any]) -> Callable[..., Any]:
    def matching(pattern: Any) -> Any:
        text = os.fsdecode(pattern)
        return original(pattern) if "://" in text else sorted(glob.glob(text))

    return matching


class _Files:
    """Each act of the module, on places. What is to fail is left to TensorFlow, whose errors are its own."""

    def __init__(self, changes: Changes, module: Any) -> None:
        self._changes, self._layers = changes, changes.layers
        # The functions themselves, before they are replaced.
        self._plain = {name: value for name, value in vars(module).items() if callable(value)}

    def looking(self, name: str) -> Callable[..., Any]:
        return lambda place, *rest: self._plain[name](self._layers.where(place), *rest)

    def opened_for_writing(self, place: str, mode: bytes | str) -> Any:
        # A folder that is not there is TensorFlow's error to tell.
        folder = os.path.dirname(place)
        if self._layers.kind(folder) != stat.S_IFDIR or self._layers.kind(place) == stat.S_IFDIR:
            return self._plain["WritableFile"](self._layers.where(place), mode)
        return self._plain["WritableFile"](self._changes.for_writing(place, truncate="w" in os.fsdecode(mode)), mode)

    def children(self, place: str) -> Any:
        if self._layers.kind(place) != stat.S_IFDIR:
            return self._plain["GetChildren"](self._layers.where(place))
        return self._layers.names(place)

    def make_folder(self, place: str) -> Any:
        if self._layers.kind(place) or not self._layers.kind(os.path.dirname(place)):
            return self._plain["CreateDir"](self._layers.where(place))
        return os.mkdir(place)

    def make_folders(self, place: str) -> None:
        os.makedirs(place, exist_ok=True)

    def delete(self, place: str) -> Any:
        if self._layers.kind(place) in (0, stat.S_IFDIR):
            return self._plain["DeleteFile"](self._layers.where(place))
        return os.remove(place)

    def delete_all(self, place: str) -> Any:
        kind = self._layers.kind(place)
        if not kind:
            return self._plain["DeleteRecursively"](self._layers.where(place))
        return shutil.rmtree(place) if kind == stat.S_IFDIR else os.remove(place)

    def copy(self, source: str, target: Any, overwrite: bool) -> Any:
        return self._moved("CopyFile", source, target, overwrite, lambda to: shutil.copyfile(source, to))

    def rename(self, source: str, target: Any, overwrite: bool) -> Any:
        return self._moved("RenameFile", source, target, overwrite, lambda to: os.replace(source, to))

    def _moved(self, name: str, source: str, target: Any, overwrite: bool, act: Callable[[str], Any]) -> Any:
        to = self._layers.place(os.fsdecode(target))
        if to is None or not self._layers.kind(source) or (self._layers.kind(to) and not overwrite):
            there = target if to is None else self._layers.where(to)
            return self._plain[name](self._layers.where(source), there, overwrite)
        act(to)
        return None
