"""Changing files without changing them: every act is done in the upper layer, after the checks of the system."""

from __future__ import annotations

import _io
import errno
import os
import posixpath
import shutil
import stat
import threading
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.layers import Layers, exists, real


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


class Changes:
    """`tell(act, place)` hears of all that would have changed for good."""

    def __init__(self, layers: Layers, tell: Callable[[str, str], None]) -> None:
        self.layers = layers
        self._tell = tell
        self._one_at_a_time = threading.RLock()
        # Opened to be changed, and so far the same as their originals: place and what was there.
        self._unchanged: dict[str, tuple[int, int]] = {}

    def tell(self, act: str, place: str) -> None:
        if not self.layers.in_scratch(place):
            self._tell(act, place)

    def for_writing(self, place: str, create: bool = True, exclusive: bool = False, truncate: bool = False) -> str:
        """The path to open where the program opens `place` to write; what it must find in there is there."""
        kind = self.layers.kind(place)
        if kind and create and exclusive:
            raise _error(errno.EEXIST)
        if not kind and not create:
            raise self._missing(place)
        if kind == stat.S_IFDIR:
            raise _error(errno.EISDIR)
        with self._one_at_a_time:
            if not kind:
                self._make_room(place)
            elif truncate or kind != stat.S_IFREG:
                self._replace(place)
            else:
                self._allow(place)
                self.lift(place)
        self.tell("write", place)
        return self.layers.above(place)

    def for_update(self, place: str) -> str:
        """The same for a file that a library may only read in the end: it is told of once it has been changed."""
        above = self.layers.above(place)
        if place not in self._unchanged:
            if self.layers.kind(place) != stat.S_IFREG or self.layers.where(place) == above:
                return self.for_writing(place)
            with self._one_at_a_time:
                self._allow(place)
                self._unchanged[place] = _state(self.lift(place))
        return above

    def settle(self) -> None:
        """Tell of all that has been changed since it was opened."""
        for place, state in list(self._unchanged.items()):
            above = self.layers.above(place)
            if not exists(above) or _state(above) != state:
                del self._unchanged[place]
                self.tell("write", place)

    def _make_room(self, place: str) -> None:
        """Get ready for something new: its folder must be there, and be the user's to write to."""
        folder = posixpath.dirname(place)
        if self.layers.kind(folder) != stat.S_IFDIR:
            raise self._missing(place)
        self._allow(folder)
        self._lift_folders(folder)

    def _missing(self, place: str) -> OSError:
        """What is wrong with a place where there is nothing."""
        folder = posixpath.dirname(place)
        while not (kind := self.layers.kind(folder)):
            folder = posixpath.dirname(folder)
        return _error(errno.ENOENT if kind == stat.S_IFDIR else errno.ENOTDIR)

    def _allow(self, place: str) -> None:
        if not real.access(self.layers.where(place), os.W_OK):
            raise _error(errno.EACCES)

    def _lift_folders(self, folder: str) -> None:
        self.layers.clean = False
        above = self.layers.above(folder)
        if above != folder:
            _make_folders(above)

    def _replace(self, place: str) -> None:
        self._allow(place)
        self._lift_folders(posixpath.dirname(place))

    def lift(self, place: str) -> str:
        """Copy a real file to the upper layer, where it may be changed; a folder comes without what is in it."""
        above = self.layers.above(place)
        kind = self.layers.kind(place)
        if not kind:
            raise self._missing(place)
        if self.layers.where(place) == above:
            return above
        if kind == stat.S_IFDIR:
            self._lift_folders(place)
            return above
        self._lift_folders(posixpath.dirname(place))
        if kind == stat.S_IFLNK:
            real.symlink(real.readlink(place), above)
        elif kind == stat.S_IFREG:
            _copy(place, above)
        else:
            real.mkfifo(above)
        return above

    def lift_nearest(self, place: str) -> None:
        """Make ready for a library that makes the folders of a new file by itself."""
        folder = posixpath.dirname(place)
        while not self.layers.kind(folder):
            folder = posixpath.dirname(folder)
        with self._one_at_a_time:
            self._allow(folder)
            self._lift_folders(folder)

    def lift_all(self, place: str) -> None:
        """Copy a file, or a folder with all that is in it."""
        self.lift(place)
        if self.layers.kind(place) == stat.S_IFDIR:
            for name in self.layers.names(place):
                self.lift_all(f"{place}/{name}")

    def make(self, place: str, act: str, create: Callable[[str], Any]) -> None:
        """Make something that must not be there yet: a folder, a link, a pipe."""
        if self.layers.kind(place):
            raise _error(errno.EEXIST)
        with self._one_at_a_time:
            self._make_room(place)
            create(self.layers.above(place))
            self.layers.forget_links()
        self.tell(act, place)

    def change(self, place: str, act: str, alter: Callable[[str], Any]) -> Any:
        """Alter what is there: its time, its owner, its length."""
        with self._one_at_a_time:
            if self.layers.is_real(place):
                self.tell(act, place)
            return alter(self.lift(place))

    def remove(self, place: str) -> None:
        kind = self.layers.kind(place)
        if not kind:
            raise self._missing(place)
        if kind == stat.S_IFDIR:
            raise _error(errno.EISDIR)
        self._take_away(place, real.unlink)

    def remove_folder(self, place: str) -> None:
        kind = self.layers.kind(place)
        if kind != stat.S_IFDIR:
            raise _error(errno.ENOTDIR) if kind else self._missing(place)
        if self.layers.names(place):
            raise _error(errno.ENOTEMPTY)
        self._take_away(place, real.rmdir)

    def _take_away(self, place: str, remove: Callable[[str], None]) -> None:
        with self._one_at_a_time:
            self._allow(posixpath.dirname(place))
            if exists(above := self.layers.above(place)):
                remove(above)
            self._hide(place, "delete")

    def _hide(self, place: str, act: str = "") -> None:
        if self.layers.is_real(place):
            self.layers.hide(place)
            if act:
                self.tell(act, place)
        self.layers.forget_links()

    def move(self, source: str, target: str) -> None:
        kind, there = self.layers.kind(source), self.layers.kind(target)
        for place in (source, target):
            if self.layers.kind(posixpath.dirname(place)) != stat.S_IFDIR:
                raise self._missing(place)
        if not kind:
            raise self._missing(source)
        if source == target:
            return
        if kind == stat.S_IFDIR and target.startswith(source + "/"):
            raise _error(errno.EINVAL)
        if source.startswith(target + "/"):
            raise _error(errno.ENOTEMPTY)
        self._check_overwriting(kind, there, target)
        with self._one_at_a_time:
            self._allow(posixpath.dirname(source))
            self._make_room(target)
            was_real = self.layers.is_real(source)
            self.lift_all(source)
            self._hide(target)
            real.replace(self.layers.above(source), self.layers.above(target))
            self._hide(source)
        self.tell("rename" if was_real else "write", source if was_real else target)

    def _check_overwriting(self, kind: int, there: int, target: str) -> None:
        if there == stat.S_IFDIR and kind != stat.S_IFDIR:
            raise _error(errno.EISDIR)
        if there and there != stat.S_IFDIR and kind == stat.S_IFDIR:
            raise _error(errno.ENOTDIR)
        if there == stat.S_IFDIR and self.layers.names(target):
            raise _error(errno.ENOTEMPTY)


def _state(path: str) -> tuple[int, int]:
    status = real.stat(path)
    return status.st_size, status.st_mtime_ns


def _make_folders(path: str) -> None:
    try:
        real.mkdir(path)
    except FileExistsError:
        return
    except FileNotFoundError:
        _make_folders(posixpath.dirname(path))
        real.mkdir(path)


def _copy(source: str, target: str) -> None:
    with _io.open(source, "rb") as old, _io.open(target, "wb") as new:
        shutil.copyfileobj(old, new, 1 << 20)
    status = real.stat(source)
    real.chmod(target, stat.S_IMODE(status.st_mode) | stat.S_IWUSR)
    real.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
