"""Which versions of a library the files of a project must work with: what it declares, or what the user said."""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from sleuth.source.declarations import Reader, inline, library_of, locked, reader_of, requirements
from sleuth.source.files import root_of
from sleuth.source.scopes import File
from sleuth.source.versions import NEWEST, Allowed, Release, specifier, trimmed

Declared = dict[str, Allowed]
_INLINE: Final = "# /// script"


class Targets:
    """What the folders of a project declare, read once each."""

    def __init__(
        self, root: str, said: Mapping[str, str] | None = None, read: Callable[[str], str] | None = None
    ) -> None:
        self._root = os.path.abspath(root)
        self._said = {library_of(name): _said(text) for name, text in (said or {}).items()}
        self._read = read or _text_of
        self._folders: dict[str, tuple[Any, Declared]] = {}

    def of(self, library: str, path: str, text: str = "") -> Allowed:
        """The versions that a file must work with: those it names itself, or what the nearest folder says."""
        own = self._declared(inline, text, path) if _INLINE in text else {}
        direct = self._direct(library, path, own)
        if direct is not None and direct.bounded:
            return direct
        for companion, translate in _COMPANIONS.get(library, ()):
            found = self._direct(companion, path, own)
            if found is not None and found.bounded:
                return translate(found)
        # A bare name says that it is used, not which: people who install it get the newest.
        return Allowed() if direct is None else replace(Allowed(), where=direct.where)

    def _direct(self, library: str, path: str, own: Declared) -> Allowed | None:
        if library in self._said:
            return self._said[library]
        if library in own:
            return own[library]
        for folder in self._upwards(os.path.dirname(os.path.abspath(path))):
            found = self._folder(folder).get(library)
            if found is not None:
                return found
        return None

    def _upwards(self, folder: str) -> Iterator[str]:
        """The folder and those above it, as far as the project reaches."""
        yield folder
        while folder != self._root and folder.startswith(self._root.rstrip(os.sep) + os.sep):
            folder = os.path.dirname(folder)
            yield folder

    def _folder(self, folder: str) -> Declared:
        """What a folder declares. A language server lives long: the answer is kept until one of the files changes."""
        files = _declaring(folder)
        state = tuple((path, _stamp(path)) for path, _ in files)
        known = self._folders.get(folder)
        if known is None or known[0] != state:
            known = self._folders[folder] = (state, self._declared_by(files))
        return known[1]

    def _declared_by(self, files: list[tuple[str, Reader]]) -> Declared:
        combined: Declared = {}
        installed: Declared = {}
        for path, reader in files:
            _narrow(installed if reader is locked else combined, self._file(path, reader))
        for library, allowed in installed.items():
            # A lock file says which version is installed where nothing else says anything.
            if library in combined and not combined[library].bounded:
                combined[library] = allowed
        return combined

    def _file(self, path: str, reader: Reader) -> Declared:
        try:
            text = self._read(path)
        except OSError:
            return {}
        return self._declared(reader, text, path)

    def _declared(self, reader: Reader, text: str, path: str) -> Declared:
        """The libraries a text declares. One that cannot be understood declares none."""
        try:
            found = list(reader(text))
        except (ValueError, SyntaxError, configparser.Error, RecursionError, TypeError, AttributeError):
            return {}
        declared: Declared = {}
        for name, allowed in found:
            library, stated = library_of(name), replace(allowed, where=path)
            declared[library] = _combined(declared[library], stated) if library in declared else stated
        return declared


def _said(text: str) -> Allowed:
    """A version on the command line: `==2.1`, `>=2.1,<3` or plainly `2.1`."""
    text = text.strip()
    return specifier(text if text[:1] in "<>=~!" else f"=={text}")


def _text_of(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _declaring(folder: str) -> list[tuple[str, Reader]]:
    """The files of a folder that name versions, and how each is read."""
    names = _listed(folder)
    found = [(os.path.join(folder, name), reader) for name in names if (reader := reader_of(name)) is not None]
    if "requirements" in names:
        below = os.path.join(folder, "requirements")
        texts = [name for name in _listed(below) if name.endswith((".txt", ".in"))]
        found += [(os.path.join(below, name), requirements) for name in texts]
    return found


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _combined(one: Allowed, other: Allowed) -> Allowed:
    """Two statements on one library hold together; where they exclude each other they are alternatives."""
    return (one & other) or (one | other)


def _narrow(combined: Declared, more: Declared) -> None:
    for library, allowed in more.items():
        combined[library] = _combined(combined[library], allowed) if library in combined else allowed


def _vision_of_torch(torch: Allowed) -> Allowed:
    """The torchvision that is released for these versions of torch."""
    return replace(torch, lowest=_vision(torch.lowest), highest=_vision(torch.highest))


def _vision(torch: Release) -> Release:
    if torch in ((), NEWEST):
        return torch
    if torch[0] < 1:
        return (0, 2)
    minor = torch[1] if len(torch) > 1 else 0
    # torch 1.3 came with torchvision 0.4, and so on to 1.13 with 0.14; 2.0 came with 0.15.
    return (0, 15 + minor) if torch[0] >= 2 else trimmed((0, max(minor + 1, 2)))


def _keras_of_tensorflow(tensorflow: Allowed) -> Allowed:
    """The Keras inside: TensorFlow 2.16 brought Keras 3, 1.x brought 2.2, and in between the numbers agree."""
    return replace(tensorflow, lowest=_keras(tensorflow.lowest), highest=_keras(tensorflow.highest))


def _keras(tensorflow: Release) -> Release:
    if tensorflow in ((), NEWEST):
        return tensorflow
    if tensorflow[0] < 2:
        return (2, 2)
    return (3,) if tensorflow >= (2, 16) else max(tensorflow, (2, 3))


_COMPANIONS: Final[dict[str, tuple[tuple[str, Callable[[Allowed], Allowed]], ...]]] = {
    "torchvision": (("torch", _vision_of_torch),),
    "keras": (("tensorflow", _keras_of_tensorflow),),
}


@lru_cache(maxsize=16)
def _targets(root: str, said: tuple[tuple[str, str], ...]) -> Targets:
    return Targets(root, dict(said))


def allowed_for(file: File, library: str) -> Allowed:
    """The versions of a library that a file of the project must work with."""
    project = getattr(file, "project", None)
    root = root_of(file.path) if project is None else project.root
    said = {} if project is None else project.targets
    return _targets(root, tuple(sorted(said.items()))).of(library, file.path, file.text)
