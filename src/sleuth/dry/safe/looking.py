"""The functions of `os` that look at files, looking at both layers."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import Any

from sleuth.dry.safe.layers import Layers, real

_FOLLOWING = ("stat", "access", "statvfs", "pathconf", "getxattr", "listxattr")
_NOT_FOLLOWING = ("lstat", "readlink")


def stands(layers: Layers) -> dict[str, Callable[..., Any]]:
    """What to put in place of each function."""
    follows = {**dict.fromkeys(_FOLLOWING, True), **dict.fromkeys(_NOT_FOLLOWING, False)}
    found = {
        name: _look(layers, getattr(real, name), follow) for name, follow in follows.items() if hasattr(real, name)
    }
    return {**found, **_folders(layers), **_current_folder(layers)}


def _look(layers: Layers, original: Callable[..., Any], follow: bool) -> Callable[..., Any]:
    def look(path: Any, *args: Any, **options: Any) -> Any:
        if layers.clean:
            return original(path, *args, **options)
        place = layers.place(path, options.get("dir_fd"), options.get("follow_symlinks", follow))
        if place is None:
            return original(path, *args, **options)
        options.pop("dir_fd", None)
        try:
            return original(layers.where(place), *args, **options)
        except OSError as error:
            error.filename = path
            raise

    return look


def _folders(layers: Layers) -> dict[str, Callable[..., Any]]:
    def folder(path: Any) -> str | None:
        """The place of a folder, where the system alone would not show what the program must see."""
        if layers.clean:
            return None
        if isinstance(path, int):
            place = layers.folder_behind(path)
            return place if layers.is_merged(place) else None
        found = layers.place(path)
        if found is None or layers.is_merged(found):
            return found
        as_given = os.path.normpath(os.path.join(layers.cwd, os.fsdecode(path)))
        return None if as_given == found and real.getcwd() == layers.cwd else found

    def names(place: str, path: Any) -> list[str]:
        try:
            return layers.names(place)
        except OSError as error:
            error.filename = path
            raise

    def listdir(path: Any = ".") -> list[Any]:
        place = folder("." if path is None else path)
        if place is None:
            return list(real.listdir(path))
        seen = names(place, path)
        return [os.fsencode(name) for name in seen] if isinstance(path, bytes) else seen

    def scandir(path: Any = ".") -> Any:
        path = "." if path is None else path
        place = folder(path)
        if place is None:
            return real.scandir(path)
        return Scan(Entry(layers, place, name, path) for name in names(place, path))

    return {"listdir": listdir, "scandir": scandir}


def _current_folder(layers: Layers) -> dict[str, Callable[..., Any]]:
    def chdir(path: Any) -> None:
        place = layers.folder_behind(path) if isinstance(path, int) else layers.place(path)
        if place is None:
            return real.chdir(path)  # type: ignore[no-any-return]
        try:
            # Among the real files where there are any: a library that opens files by itself finds them.
            real.chdir(place if layers.is_real(place) else layers.where(place))
        except OSError as error:
            error.filename = path
            raise
        layers.cwd = place
        layers.forget_links()

    return {
        "chdir": chdir,
        "fchdir": chdir,
        "getcwd": lambda: layers.cwd,
        "getcwdb": lambda: os.fsencode(layers.cwd),
    }


class Entry:
    """Like `os.DirEntry`, for a name in a folder of two layers."""

    def __init__(self, layers: Layers, folder: str, name: str, path: Any) -> None:
        self._layers = layers
        self._place = f"{folder.rstrip('/')}/{name}"
        given = path if isinstance(path, int) else os.fspath(path)
        self.name: Any = os.fsencode(name) if isinstance(given, bytes) else name
        self.path: Any = self.name if isinstance(given, int) else os.path.join(given, self.name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        place = self._layers.canonical(self._place, follow_symlinks)
        return real.lstat(self._layers.where(place))  # type: ignore[no-any-return]

    def _is(self, kind: int, follow: bool) -> bool:
        return self._layers.kind(self._layers.canonical(self._place, follow)) == kind

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._is(stat.S_IFDIR, follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return self._is(stat.S_IFREG, follow_symlinks)

    def is_symlink(self) -> bool:
        return self._is(stat.S_IFLNK, False)

    def is_junction(self) -> bool:
        return False

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino


class Scan:
    """Like the iterator that `os.scandir` gives."""

    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> Scan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._entries = iter(())
