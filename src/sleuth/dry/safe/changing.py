"""The functions of `os` that change files, changing the upper layer only."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sleuth.dry.safe.changes import Changes
from sleuth.dry.safe.layers import real, stream

_ALTER = {
    "utime": "touch",
    "chmod": "change mode of",
    "chown": "change owner of",
    "chflags": "change flags of",
    "truncate": "truncate",
    "setxattr": "change attributes of",
    "removexattr": "change attributes of",
    "fchmod": "change mode of",
    "fchown": "change owner of",
}
_NOT_FOLLOWING = os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def stands(changes: Changes) -> dict[str, Callable[..., Any]]:
    """What to put in place of each function; only of those that this system has."""
    found = {
        "open": _open(changes),
        **{name: _alter(changes, name, act) for name, act in _ALTER.items() if hasattr(real, name)},
        **_making(changes),
        **_removing(changes),
        **_moving(changes),
    }
    return {name: stand for name, stand in found.items() if hasattr(real, name)}


def writes(flags: int) -> bool:
    """Does `os.open` with these flags open something to write?"""
    return bool(flags & _WRITING) and not flags & getattr(os, "O_PATH", 0)


def _open(changes: Changes) -> Callable[..., int]:
    layers = changes.layers

    def open(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        writing = writes(flags)
        if layers.clean and not writing:
            return real.open(path, flags, mode, dir_fd=dir_fd)  # type: ignore[no-any-return]
        place = layers.place(path, dir_fd, follow=not flags & _NOT_FOLLOWING)
        if place is None and writing and (descriptor := stream(path)) is not None:
            return real.dup(descriptor)  # type: ignore[no-any-return]
        if place is None:
            return real.open(path, flags, mode, dir_fd=dir_fd)  # type: ignore[no-any-return]
        with _Named(path):
            if not writing:
                return real.open(layers.where(place), flags, mode)  # type: ignore[no-any-return]
            if flags & getattr(os, "O_TMPFILE", 0) == getattr(os, "O_TMPFILE", -1):
                return real.open(changes.lift(place), flags, mode)  # type: ignore[no-any-return]
            create, exclusive = bool(flags & os.O_CREAT), bool(flags & os.O_EXCL)
            where = changes.for_writing(place, create, exclusive, bool(flags & os.O_TRUNC))
            # A real file that is emptied has no copy above yet.
            return real.open(where, flags | os.O_CREAT if flags & os.O_TRUNC else flags, mode)  # type: ignore[no-any-return]

    return open


class _Named:
    """Errors of the system speak of the path that the program gave."""

    def __init__(self, path: Any, second: Any = None) -> None:
        self._paths = path, second

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, OSError):
            error.filename, error.filename2 = self._paths


def _on_a_place(changes: Changes, name: str, act: Callable[..., Any], follow: bool = False) -> Callable[..., Any]:
    """`act(place, *args, **options)` on the place of the first argument; the function itself where there is none."""
    original = getattr(real, name, None)

    def call(path: Any, *args: Any, **options: Any) -> Any:
        place = changes.layers.place(path, options.get("dir_fd"), options.get("follow_symlinks", follow))
        if place is None and original is not None:
            return original(path, *args, **options)
        options.pop("dir_fd", None)
        with _Named(path):
            return act(place, *args, **options)

    return call


def _alter(changes: Changes, name: str, act: str) -> Callable[..., Any]:
    original = getattr(real, name)

    def alter(place: str, *args: Any, **options: Any) -> Any:
        return changes.change(place, act, lambda above: original(above, *args, **options))

    by_path = _on_a_place(changes, name, alter, follow=True)

    def by_path_or_descriptor(path: Any, *args: Any, **options: Any) -> Any:
        if isinstance(path, int) and changes.layers.is_outside(path):
            return changes.tell(act, changes.layers.folder_behind(path))
        return by_path(path, *args, **options)

    return by_path_or_descriptor


def _making(changes: Changes) -> dict[str, Callable[..., Any]]:
    def mkdir(place: str, mode: int = 0o777) -> None:
        changes.make(place, "create folder", lambda above: real.mkdir(above, mode))

    def mkfifo(place: str, mode: int = 0o666, device: int = 0) -> None:
        changes.make(place, "create pipe", lambda above: real.mkfifo(above, mode))

    def symlink(source: Any, target: Any, target_is_directory: bool = False, *, dir_fd: int | None = None) -> None:
        with _Named(source, target):
            place = changes.layers.place(target, dir_fd, follow=False)
            changes.make(place or "", "link", lambda above: real.symlink(source, above))

    return {
        "mkdir": _on_a_place(changes, "mkdir", mkdir),
        "mkfifo": _on_a_place(changes, "mkfifo", mkfifo),
        "mknod": _on_a_place(changes, "mknod", mkfifo),
        "symlink": symlink,
    }


def _removing(changes: Changes) -> dict[str, Callable[..., Any]]:
    remove = _on_a_place(changes, "remove", changes.remove)
    return {"remove": remove, "unlink": remove, "rmdir": _on_a_place(changes, "rmdir", changes.remove_folder)}


def _moving(changes: Changes) -> dict[str, Callable[..., Any]]:
    def move(source: Any, target: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        with _Named(source, target):
            old = changes.layers.place(source, src_dir_fd, follow=False)
            new = changes.layers.place(target, dst_dir_fd, follow=False)
            changes.move(old or "", new or "")

    def link(
        source: Any,
        target: Any,
        *,
        src_dir_fd: int | None = None,
        dst_dir_fd: int | None = None,
        follow_symlinks: bool = True,  # which Linux does not do, whatever is asked for
    ) -> None:
        with _Named(source, target):
            old = changes.layers.place(source, src_dir_fd, follow=False)
            new = changes.layers.place(target, dst_dir_fd, follow=False)
            lifted = changes.lift(old or "")
            changes.make(new or "", "link", lambda above: real.link(lifted, above))

    return {"rename": move, "replace": move, "link": link}
