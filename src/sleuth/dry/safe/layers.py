"""Two layers seen as one file system: what the program writes lies above, in scratch, and the real files below."""

from __future__ import annotations

import _io
import errno
import importlib
import json
import os
import posixpath
import stat
from pathlib import Path
from typing import Any

# The functions themselves, whatever stands in `os` meanwhile.
real: Any = importlib.import_module(os.name)

_LINKS_IN_A_ROW = 40  # the kernel's own limit
# Writing to these changes nothing that lasts.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "stdin", "stdout", "stderr")
_DEVICE_FOLDERS = ("/dev/fd/", "/dev/pts/", "/dev/nvidia", "/dev/dri/", "/proc/self/fd/")


class Layers:
    """Says where a path lies. A *place* is an absolute path, free of links, as the program knows it."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = posixpath.realpath(scratch)
        self.top = self.scratch + "/overlay"
        self.temporary = self.scratch + "/tmp"
        self.cwd: str = real.getcwd()
        self._folders: dict[str, str] = {}
        self.look_again()

    def look_again(self) -> None:
        """Take the upper layer as it lies there: another rehearsal has left it so, or it has been cleared."""
        # Real files and folders that the program believes it has removed; what lies below them is removed with them.
        self.gone: set[str] = set()
        self._folders.clear()
        for folder in (self.top, self.temporary):
            if not exists(folder):
                real.mkdir(folder)
        log = self.scratch + "/gone"
        if exists(log):
            with _io.open(log, encoding="utf-8") as lines:
                self.gone.update(json.loads(line) for line in lines)
        self._log = _io.FileIO(log, "a")
        # As long as nothing was changed, whoever only looks may look at the real files.
        self.clean = not self.gone and not real.listdir(self.top)

    def is_untouched(self) -> bool:
        """Has nothing been written yet, not even what is only temporary?"""
        return self.clean and not any(real.listdir(folder) for folder in (self.top, self.temporary))

    def place(self, path: Any, dir_fd: int | None = None, follow: bool = True) -> str | None:
        """Where a path leads; None for what is no business of ours: descriptors, devices, things that are no path."""
        if isinstance(path, int) or not isinstance(path, (str, bytes, os.PathLike)):
            return None
        text = os.fsdecode(path)
        if not text or "\0" in text:
            return None
        absolute = posixpath.join(self.cwd if dir_fd is None else self.folder_behind(dir_fd), text)
        try:
            return None if is_device(absolute) else self.canonical(absolute, follow)
        except OSError as error:
            error.filename = path
            raise

    def folder_behind(self, descriptor: int) -> str:
        """The folder that a descriptor was opened on."""
        try:
            return self.as_known(real.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            import fcntl

            name = fcntl.fcntl(descriptor, getattr(fcntl, "F_GETPATH", 50), bytes(1024))
            return self.as_known(os.fsdecode(name.rstrip(b"\0")))

    def is_outside(self, descriptor: int) -> bool:
        """Was this descriptor opened on a real file or folder, which it could change?"""
        try:
            path = str(real.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            return False
        return path.startswith("/") and not self.in_scratch(path) and not is_device(path)

    def as_known(self, path: str) -> str:
        """A path of the upper layer as the program knows it."""
        return path[len(self.top) :] or "/" if path == self.top or path.startswith(self.top + "/") else path

    def canonical(self, absolute: str, follow: bool = True) -> str:
        """The place of an absolute path, all links on the way followed, and the last one where asked."""
        folder, _, name = absolute.rpartition("/")
        if name in ("", ".", ".."):
            return self._walk(absolute, follow)
        if folder not in self._folders:
            self._folders[folder] = self._walk(folder, True)
        parent = self._folders[folder]
        place = f"{parent}/{name}" if parent != "/" else f"/{name}"
        return self._walk(place, True) if follow and self._link(place) is not None else place

    def _walk(self, absolute: str, follow: bool) -> str:
        todo = _parts(absolute)
        place, links = "", 0
        while todo:
            name = todo.pop()
            if name == "..":
                place = place.rpartition("/")[0]
                continue
            target = self._link(f"{place}/{name}") if todo or follow else None
            if target is None:
                place = f"{place}/{name}"
                continue
            links += 1
            if links > _LINKS_IN_A_ROW:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            place = "" if target.startswith("/") else place
            todo += _parts(target)
        return place or "/"

    def _link(self, place: str) -> str | None:
        try:
            return str(real.readlink(self.where(place)))
        except OSError:
            return None

    def forget_links(self) -> None:
        """Folders have moved: paths may lead elsewhere now."""
        self._folders.clear()

    def above(self, place: str) -> str:
        """Where a place would lie in the upper layer."""
        return place if self.in_scratch(place) else self.top + place

    def in_scratch(self, place: str) -> bool:
        return place == self.scratch or place.startswith(self.scratch + "/")

    def where(self, place: str) -> str:
        """Where the file or folder of that place lies in truth; a path that does not exist where there is none."""
        above = self.above(place)
        return above if above == place or _decides(above) or self.hidden(place) else place

    def hidden(self, place: str) -> bool:
        """Does the program believe that the real file is gone?"""
        if not self.gone:
            return False
        while place:
            if place in self.gone:
                return True
            place = place.rpartition("/")[0]
        return False

    def hide(self, place: str) -> None:
        self.gone.add(place)
        self.clean = False
        self._log.write((json.dumps(place) + "\n").encode())

    def is_real(self, place: str) -> bool:
        """Is there a real file, outside of the scratch folder, that the program can see at this place?"""
        return not self.in_scratch(place) and not self.hidden(place) and exists(place)

    def kind(self, place: str) -> int:
        """The file's type as `stat.S_IFMT` gives it; 0 where there is nothing."""
        try:
            return stat.S_IFMT(real.lstat(self.where(place)).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return 0

    def is_merged(self, place: str) -> bool:
        """Must the names in this folder be taken from both layers?"""
        above = self.above(place)
        if above == place:
            return False
        return _decides(above) or self.hidden(place) or any(posixpath.dirname(one) == place for one in self.gone)

    def names(self, place: str) -> list[str]:
        """What the program sees in a folder."""
        above = self.above(place)
        if above == place or not self.is_real(place):
            return list(real.listdir(self.where(place)))
        upper = real.listdir(above) if exists(above) else []
        root = "" if place == "/" else place
        lower = [name for name in real.listdir(place) if f"{root}/{name}" not in self.gone]
        return lower + [name for name in upper if name not in set(lower)]


def exists(path: str) -> bool:
    try:
        real.lstat(path)
    except OSError:
        return False
    return True


def _decides(above: str) -> bool:
    """Does the upper layer say what is at this path: something, or nothing because a file is where its folder was?"""
    try:
        real.lstat(above)
    except NotADirectoryError:
        return True
    except OSError:
        return False
    return True


def _parts(path: str) -> list[str]:
    return [part for part in reversed(path.split("/")) if part and part != "."]


def stream(path: Any) -> int | None:
    """The descriptor that a path such as /dev/stdout stands for: where that is a file, it must not be opened anew."""
    known = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
    if path in known:
        return known[path]
    if isinstance(path, str) and path.startswith(("/dev/fd/", "/proc/self/fd/")):
        number = path.rpartition("/")[2]
        return int(number) if number.isdigit() else None
    return None


def is_device(absolute: str) -> bool:
    if absolute.startswith("/dev/"):
        return absolute[5:] in _DEVICES or absolute.startswith(_DEVICE_FOLDERS)
    return absolute.startswith("/proc/")
