"""The projects the editor has files of open: what the engine keeps of each, and what its pyproject.toml asks for."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sleuth import options
from sleuth.findings import Finding
from sleuth.options import FilePattern
from sleuth.source.engine import Examined, Unit, examine
from sleuth.source.ignoring import Patterns
from sleuth.source.project import Project
from sleuth.source.selection import Selection

# What `sleuth check` without arguments is given.
_NO_ARGUMENTS = Namespace(ignore=None, format=None, output=None)


@dataclass(frozen=True, slots=True)
class Folder:
    """One project: its files as the engine reads them, the diagnoses to look for (None: all) and those to leave out."""

    project: Project
    select: frozenset[str] | None = None
    selection: Selection = field(default_factory=Selection)

    def examine(self, unit: Unit, texts: Mapping[str, str]) -> Examined:
        """What is found in a unit while the editor holds these texts of files."""
        self._take(texts)
        return examine(unit, self.project, select=self.select)

    def wanted(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Without what the settings leave out, excluded files among it: nobody named them, they were only opened."""
        return self.selection.wanted(findings, ())

    def _take(self, texts: Mapping[str, str]) -> None:
        """What was read of the project is kept unless one of the files in it is now another."""
        held = self.project.overlay
        changed = {path for path in held.keys() | texts.keys() if held.get(path) != texts.get(path)}
        appeared = {path for path in held.keys() ^ texts.keys() if not os.path.exists(path)}
        held.clear()
        held.update(texts)
        if appeared or (changed and changed & self._read_for_others()):
            self.project.forget()

    def _read_for_others(self) -> set[str]:
        """The files that were read for the sake of one that is open, or of one of these."""
        read = {path for one in self.project.overlay for path in self.project.dependencies(one)}
        return read.union(*map(self.project.dependencies, read))


def opened(root: Path) -> Folder:
    """The project below a folder. Raises Refusal where its settings are wrong."""
    with _standing_in(root):
        chosen = options.resolve(_NO_ARGUMENTS, "check")
    project = Project(root)
    project.targets = dict(chosen.targets)
    ignore_in = [(_patterns(pattern), names) for pattern, names in chosen.ignore_in]
    exclude = [_patterns(pattern) for pattern in chosen.exclude]
    return Folder(project, chosen.select, Selection(chosen.ignore, ignore_in, exclude))


def without_settings(root: Path) -> Folder:
    return Folder(Project(root))


def _patterns(one: FilePattern) -> Patterns:
    return Patterns(str(one.folder), [one.pattern])


@contextmanager
def _standing_in(folder: Path) -> Iterator[None]:
    """Settings are looked for from where a command is run upwards."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
