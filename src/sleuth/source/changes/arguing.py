"""Finds changed arguments in calls, judges them by the versions the project allows, and tells of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from sleuth.findings import Edit, Finding
from sleuth.source import tell
from sleuth.source.changes import Argument, arguments
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere, judge, told
from sleuth.source.keras import is_model
from sleuth.source.scopes import File
from sleuth.source.sites import Site
from sleuth.source.values import Value

# Nobody but Keras ever had arguments of these names: the receiver need not be known.
_UNMISTAKABLE: Final = frozenset(
    {"nb_epoch", "samples_per_epoch", "nb_val_samples", "val_samples", "max_q_size", "nb_worker", "pickle_safe"}
)


@cache
def calls() -> tuple[str, ...]:
    """The calls in which arguments changed, as checks wait for them."""
    return tuple({f"*.{name.rpartition('.')[2]}" if _is_method(name) else name for name in arguments()})


def _is_method(name: str) -> bool:
    return name.startswith("*.") or "()." in name


@cache
def _by_method() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in filter(_is_method, arguments()):
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


def outdated(site: Site, diagnosis: str) -> Iterator[Finding]:
    """A finding for each argument of a call that is gone or going."""
    call = site.node
    if not isinstance(call, ast.Call) or is_elsewhere(site.spot):
        return
    known = dict(_known(site))
    told_of = [(given, change) for given in _given(call) for change in known.get(_name_of(given, known), ())]
    for given, change in told_of:
        file = site.spot.file
        if not _is_meant(given, change):
            continue
        judged = judge(file, change)
        if judged is None or is_guarded(file, call):
            continue
        crowded = change.alone and len(told_of) > 1
        edits = [] if crowded else _edits(file, call, given, change)
        yield told(diagnosis, file, given, [(_subject(change, site), change)], *judged, edits)


def _known(site: Site) -> Iterator[tuple[str, tuple[Argument, ...]]]:
    """The changed arguments of what is called."""
    yield from arguments().get(site.name, {}).items()
    last = site.name.rpartition(".")[2]
    for name in _by_method().get(last, ()):
        for old, changes in arguments()[name].items():
            if _belongs(site, name, old, changes[0].library):
                yield old, changes


def _belongs(site: Site, name: str, old: str, library: str) -> bool:
    """Is the method one of the library's?"""
    if name.startswith("*."):
        return site.name.startswith(f"{library}.")
    maker = name.partition("()")[0]
    receiver = site.receiver
    if receiver is None:
        return False
    if receiver.api == maker or (maker == "keras.Model" and is_model(receiver)):
        return True
    return old in _UNMISTAKABLE and receiver.kind == "?" and imports(site.spot.file, library)


def imports(file: File, library: str) -> bool:
    """Does the file import a library, under any of its names?"""
    return any(
        (value.kind == "api" and value.api.partition(".")[0] == library) or _inside(value, library)
        for value in file.globals.values()
    )


def _inside(value: Value, library: str) -> bool:
    return value.kind == "api" and f".{library}" in value.raw


def _given(call: ast.Call) -> list[Any]:
    return [*(one for one in call.keywords if one.arg is not None), *call.args[:1]]


def _name_of(given: Any, known: dict[str, tuple[Argument, ...]]) -> str:
    """The argument's name; a bool in front is named by its position."""
    if isinstance(given, ast.keyword):
        return given.arg or ""
    if isinstance(given, ast.Constant) and isinstance(given.value, bool):
        return next((old for old, changes in known.items() if any(one.position == 0 for one in changes)), "")
    return ""


def _is_meant(given: Any, change: Argument) -> bool:
    if not isinstance(given, ast.keyword):
        return change.position == 0
    if not change.given:
        return True
    return isinstance(given.value, ast.Constant) and given.value.value in change.given


def _subject(change: Argument, site: Site) -> str:
    callee = (
        site.name
        if site.name.count(".") > 1
        else next(
            (name.replace("()", "") for name in change.of if name.endswith(site.name.rpartition(".")[2])), site.name
        )
    )
    return f"argument {change.old} of {callee}"


def _edits(file: File, call: ast.Call, given: Any, change: Argument) -> list[Edit]:
    if not change.rewrite or any(one.arg == change.new for one in call.keywords):
        return []
    if change.drop:
        return without(file, call, given)
    if not change.new:
        return []
    if change.values is not None:
        value = given.value if isinstance(given, ast.keyword) else given
        text = change.values.get(repr(value.value)) if isinstance(value, ast.Constant) else None
        if text is None:
            return []
        return [tell.replace(file, given, f"{change.new}={text}")] if text else without(file, call, given)
    (line, column), _ = file.span(given)
    return [Edit(file.shown, line, column, line, column + len(change.old), change.new)]


def without(file: File, call: ast.Call, given: Any) -> list[Edit]:
    """Leave an argument out, with the comma that belongs to it."""
    everything: list[Any] = sorted([*call.args, *call.keywords], key=lambda one: (one.lineno, one.col_offset))
    index = everything.index(given)
    start, end = file.span(given)
    if index > 0:
        _, before = file.span(everything[index - 1])
        between, first, last = _text(file, before, start), before, end
    elif len(everything) > 1:
        after, _ = file.span(everything[1])
        between, first, last = _text(file, end, after), start, after
    else:
        between, first, last = ",", start, end
    if not re.fullmatch(r"\s*,\s*", between):
        return []
    return [Edit(file.shown, *first, *last, "")]


def _text(file: File, first: tuple[int, int], last: tuple[int, int]) -> str:
    """What stands between two positions."""
    lines = file.lines[first[0] - 1 : last[0]]
    lines[-1] = lines[-1][: last[1] - 1]
    lines[0] = lines[0][first[1] - 1 :]
    return "\n".join(lines)
