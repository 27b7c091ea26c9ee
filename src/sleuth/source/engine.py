"""Examines one piece of source: parses it once, reads it once, and asks every check."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from sleuth.findings import Finding
from sleuth.program import silences
from sleuth.source import checks
from sleuth.source.interpreter import Interpreter
from sleuth.source.listeners import Listeners
from sleuth.source.project import Project
from sleuth.source.scopes import File

# Statements nest deeper than Python's usual limit in generated code: an elif is an if in an else.
_RECURSION = 4000
# Trees are large and hold no cycles: looking through them all the time took a third of the whole.
_COLLECT_RARELY = (200_000, 20, 100)
# A file without any of these words can hold none of our bugs.
_FRAMEWORKS = re.compile(
    r"torch|tensorflow|keras|jax|flax|numpy|optax|sklearn|lightning|transformers|accelerate|theano|backward|optimizer"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One piece of source to examine."""

    path: str
    text: str
    shown: str
    cell_ends: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found in it, and which other files that rests on."""

    findings: tuple[Finding, ...]
    dependencies: tuple[str, ...] = ()
    problem: str | None = None
    broken: tuple[str, ...] = ()


def examine(unit: Unit, project: Project, *, select: frozenset[str] | None = None) -> Examined:
    """Read a piece of source and say what is wrong with it. Never raises for anything the source holds."""
    limit, thresholds = sys.getrecursionlimit(), gc.get_threshold()
    sys.setrecursionlimit(max(limit, _RECURSION))
    gc.set_threshold(*_COLLECT_RARELY)
    try:
        return _examine(unit, project, select)
    except RecursionError:
        return Examined((), (), f"{unit.shown}:1:1: nested too deeply to be read")
    finally:
        sys.setrecursionlimit(limit)
        gc.set_threshold(*thresholds)


def _examine(unit: Unit, project: Project, select: frozenset[str] | None) -> Examined:
    try:
        tree = project.parse(unit.path, unit.text)
    except SyntaxError as error:
        return Examined((), (), f"{unit.shown}:{error.lineno or 1}:{error.offset or 1}: syntax error: {error.msg}")
    except (ValueError, MemoryError) as error:
        return Examined((), (), f"{unit.shown}:1:1: cannot be read as Python: {error}")
    if _FRAMEWORKS.search(unit.text) is None:
        return Examined(())
    file = project.file(unit.path, unit.shown, unit.text, tree)
    file.cell_ends = unit.cell_ends
    listeners = _listeners(select).for_one_file()
    Interpreter(file, project, listeners).read_all()
    listeners.hear_file(file)
    findings = tuple(_settled(listeners.findings, file, project))
    return Examined(findings, project.dependencies(unit.path), None, tuple(sorted(set(listeners.broken.values()))))


@cache
def _listeners(select: frozenset[str] | None) -> Listeners:
    return Listeners((name, check) for name, check in checks.all_checks() if select is None or name in select)


def _settled(findings: Iterable[Finding], file: File, project: Project) -> list[Finding]:
    """Each once, without those silenced by a comment, sorted by place."""
    kept: dict[tuple[str, str, int, int], Finding] = {}
    for finding in findings:
        place = finding.place
        if place is None or (finding.diagnosis.startswith("hand-written") and _is_a_framework(file)):
            continue
        key = (finding.diagnosis, place.path, place.line, place.column or 0)
        known = kept.get(key)
        better = known is None or _rank(finding) < _rank(known)
        lies_in = file if place.path == file.shown else project.read_as(place.path)
        if better and not (lies_in is not None and _silenced(finding, lies_in)):
            kept[key] = _as_hint(finding) if lies_in is not None and lies_in.is_test else finding
    for name, path, line, column in list(kept):
        for general in checks.refined().get(name, ()):
            kept.pop((general, path, line, column), None)
    return [kept[key] for key in sorted(kept, key=lambda key: (key[1], key[2], key[3], key[0]))]


def _is_a_framework(file: File) -> bool:
    """A framework writes by hand what others call."""
    return file.module.partition(".")[0] in ("torch", "tensorflow", "keras", "jax")


def _as_hint(finding: Finding) -> Finding:
    """In test code only what breaks the test itself is more than a hint."""
    if finding.effect == "crash" or finding.severity == "note":
        return finding
    return replace(finding, certainty="hint", severity="note")


def _rank(finding: Finding) -> int:
    return ("error", "warning", "note").index(finding.severity)


def _silenced(finding: Finding, file: File) -> bool:
    place = finding.place
    if place is None:
        return False
    lines = file.lines[place.line - 1 : place.end_line or place.line]
    return any(silences(line, finding.diagnosis) for line in lines)
