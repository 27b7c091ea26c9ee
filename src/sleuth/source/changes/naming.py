"""Finds uses of changed names, judges them by the versions the project allows, and tells of them."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from sleuth.findings import Edit, Evidence, Finding, Fix, Severity
from sleuth.source import tell
from sleuth.source.changes import Change, Rename, names
from sleuth.source.changes.guards import around, is_guarded, parents
from sleuth.source.changes.importing import Imported, import_edits
from sleuth.source.changes.rewriting import call_of, edits_of
from sleuth.source.changes.standing import Standing, replaceable, standing
from sleuth.source.names import canonical
from sleuth.source.scopes import File
from sleuth.source.sites import Site, Spot, Use
from sleuth.source.targets import allowed_for
from sleuth.source.versions import Allowed, Release

# By these words a file says that it runs with the old library on purpose.
_STAYS_BEHIND: Final = {"tensorflow": (".disable_v2_behavior(",), "keras": ("TF_USE_LEGACY_KERAS", "tf_keras")}


# So does a folder of that name.
_FOR_TENSORFLOW_1: Final = re.compile(r"/(?:tensorflow|tf)[_-]?v?1(?:[._-][^/]*)?/", re.IGNORECASE)


def in_use(use: Use, diagnosis: str, wanted: tuple[Standing, ...]) -> Finding | None:
    """A finding for a use of a changed name that stands in one of these ways."""
    if is_elsewhere(use.spot):
        return None
    if isinstance(use.node, ast.alias):
        return _imported(use.spot.file, use.node, diagnosis, wanted)
    return _dotted(use.spot.file, use.node, use.raw, diagnosis, wanted)


def in_call(site: Site, diagnosis: str, wanted: tuple[Standing, ...]) -> Finding | None:
    """The same for the function of a call."""
    function, file = getattr(site.node, "func", None), site.spot.file
    if function is None or is_elsewhere(site.spot):
        return None
    return _dotted(file, function, _full_name(file, function), diagnosis, wanted)


def is_elsewhere(spot: Spot) -> bool:
    """In another file than the one that is read? It is told of when that one is."""
    return any(file is not spot.file for file, _ in spot.calls)


@cache
def called_names() -> tuple[str, ...]:
    """The changed names as a call of them is announced."""
    return tuple({canonical(name) for name in names()})


def _full_name(file: File, node: ast.expr) -> str:
    """The name of a dotted expression as the file imported it; "" where it did not."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    value = file.globals.get(node.id)
    imported = value.raw if value is not None and value.kind == "api" else _imported_inside(file, node)
    return ".".join((imported, *attributes)) if imported else ""


def _imported_inside(file: File, name: ast.Name) -> str:
    """What an import statement of a function around it binds a name to."""
    for scope, _ in around(file, name):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in ast.walk(scope):
                if isinstance(statement, ast.Import | ast.ImportFrom):
                    for alias, raw in _names_in(statement):
                        if (alias.asname or alias.name.partition(".")[0]) == name.id:
                            return raw if alias.asname or isinstance(statement, ast.ImportFrom) else name.id
    return ""


def _dotted(file: File, node: ast.AST, raw: str, diagnosis: str, wanted: tuple[Standing, ...]) -> Finding | None:
    change = names().get(raw)
    # A name that was imported by itself is told of once, where it is imported.
    if change is None or isinstance(node, ast.Name) or (change.called and call_of(file, node) is None):
        return None
    judged = judge(file, change)
    if judged is None or judged[0] not in wanted or is_guarded(file, node):
        return None
    if judged[0] is Standing.DEPRECATED and _is_listed_by_name(file, node):
        return None
    return told(diagnosis, file, node, [(raw, change)], *judged, edits_of(file, node, raw, change))


def _is_listed_by_name(file: File, node: ast.AST) -> bool:
    """`{"uniform": nn.init.uniform, …}`: a table of what a library has, not a use of it."""
    table = parents(file).get(id(node))
    if not isinstance(table, ast.Dict) or not isinstance(node, ast.Attribute):
        return False
    key = next((key for key, value in zip(table.keys, table.values, strict=True) if value is node), None)
    return isinstance(key, ast.Constant) and key.value == node.attr


def _imported(file: File, alias: ast.alias, diagnosis: str, wanted: tuple[Standing, ...]) -> Finding | None:
    statement: Any = parents(file).get(id(alias))
    if not isinstance(statement, ast.Import | ast.ImportFrom) or is_guarded(file, statement):
        return None
    changed: list[Imported] = []
    verdict = None
    for one, raw in _names_in(statement):
        known = _part_that_changed(raw)
        if known is None or (known[1].called and not _is_called(file, one)):
            continue
        judged = judge(file, known[1])
        if judged is not None and judged[0] in wanted:
            changed.append((one, raw, *known))
            verdict = verdict or judged
    if verdict is None:
        return None
    mentioned = [(old, change) for _, _, old, change in changed]
    return told(diagnosis, file, statement, mentioned, *verdict, import_edits(file, statement, changed))


def _names_in(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[ast.alias, str]]:
    prefix = "" if isinstance(statement, ast.Import) else f"{statement.module}."
    for alias in statement.names:
        yield alias, prefix + alias.name


def _part_that_changed(raw: str) -> tuple[str, Rename] | None:
    """The longest beginning of a full name that changed."""
    known, part = names(), raw
    while part:
        # What is meant only when it is called is a module otherwise, with names of its own.
        if part in known and (part == raw or not known[part].called):
            return part, known[part]
        part = part.rpartition(".")[0]
    return None


def _is_called(file: File, alias: ast.alias) -> bool:
    local = alias.asname or alias.name
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == local
        for node in ast.walk(file.tree)
    )


def stays_behind(file: File, library: str) -> bool:
    """Does the file ask for the behaviour of the old library?"""
    if any(mark in file.text for mark in _STAYS_BEHIND.get(library, ())):
        return True
    return library == "tensorflow" and _FOR_TENSORFLOW_1.search(file.path.replace("\\", "/")) is not None


def _is_its_own(file: File, library: str) -> bool:
    """Is this a file of the library itself? It names what it lets go of."""
    return file.module.partition(".")[0] == library


def _is_put_back(file: File, change: Change) -> bool:
    """`np.float = float`: the file gives the library its old name again."""
    last = getattr(change, "old", "").rpartition(".")[2]
    return bool(last) and re.search(rf"\.{re.escape(last)}\s*=(?!=)", file.text) is not None


def judge(file: File, change: Change) -> tuple[Standing, Allowed] | None:
    """How a change stands to the versions of the project; None where there is nothing to say."""
    if stays_behind(file, change.library) or _is_its_own(file, change.library) or _is_put_back(file, change):
        return None
    allowed = allowed_for(file, change.library)
    found = standing(change, allowed)
    return None if found is Standing.FINE else (found, allowed)


def told(
    diagnosis: str,
    file: File,
    node: ast.AST,
    mentioned: Sequence[tuple[str, Change]],
    found: Standing,
    allowed: Allowed,
    edits: list[Edit],
    title: str = "",
) -> Finding:
    """The finding: what is gone or going, since when, what the project allows, and the fix."""
    change = mentioned[0][1]
    severity: Severity = "error" if found is Standing.GONE else "warning"
    if found is Standing.DEPRECATED and all(one.discouraged for _, one in mentioned):
        severity = "note"
    if not all(replaceable(one, allowed) for _, one in mentioned):
        edits = []
    safe = bool(edits) and all(one.safe for _, one in mentioned)
    return tell.found(
        diagnosis,
        file,
        node=node,
        title=title or _title(mentioned, found),
        severity=severity,
        evidence=[Evidence(f"{change.library} versions allowed", _said(allowed))],
        fixes=[Fix(advice([one for _, one in mentioned]), tuple(edits), safe=safe)],
    )


def _title(mentioned: Sequence[tuple[str, Change]], found: Standing) -> str:
    change = mentioned[0][1]
    olds = list(dict.fromkeys(old for old, _ in mentioned))
    subject = olds[0] if len(olds) == 1 else f"{', '.join(olds[:-1])} and {olds[-1]}"
    was = "was" if len(olds) == 1 else "were"
    if found is not Standing.DEPRECATED:
        same = len({one.removed for _, one in mentioned}) == 1
        when = f"in {change.library} {number(change.removed)}" if same else f"from {change.library}"
        return f"{subject} {was} removed {when}"
    if change.discouraged:
        return f"{subject} {was} superseded in {change.library} {number(change.since)}"
    return f"{subject} {'is' if len(olds) == 1 else 'are'} deprecated since {change.library} {number(change.since)}"


def advice(changes: Sequence[Change]) -> str:
    said = list(dict.fromkeys(one.advice or (f"use {one.new}" if one.new else "leave it out") for one in changes))
    return "; ".join(said)


def number(version: Release | None) -> str:
    text = ".".join(map(str, version or ()))
    return text if "." in text else f"{text}.0"


def _said(allowed: Allowed) -> str:
    return f"{allowed} ({os.path.basename(allowed.where)})" if allowed.where else str(allowed)
