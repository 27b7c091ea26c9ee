"""The edits that bring an import statement up to date, and the calls of what it imports."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Sequence
from typing import Any

from sleuth.findings import Edit
from sleuth.source import tell
from sleuth.source.changes import Rename
from sleuth.source.changes.rewriting import argument_edits, call_of, decorates
from sleuth.source.changes.spelling import in_the_words_of
from sleuth.source.scopes import File

# A name as it stands in an import statement, its full name, the part of that which changed, and how.
Imported = tuple[ast.alias, str, str, Rename]


def import_edits(file: File, statement: ast.Import | ast.ImportFrom, changed: Sequence[Imported]) -> list[Edit]:
    """New modules and names for all imported names that changed; nothing where one of them cannot be carried over."""
    moved = [_moved(file, *one) for one in changed]
    if None in moved:
        return []
    aliases = [one[0] for one in changed]
    targets = [one[0] for one in moved if one is not None]
    calls = [edit for one in moved if one is not None for edit in one[1]]
    if isinstance(statement, ast.Import):
        instead = _plain_import(file, aliases, targets)
    elif statement.level or statement.module is None:
        return []
    else:
        instead = _other_module(file, statement, aliases, targets) or _apart(file, statement, aliases, targets)
    return [*instead, *calls] if instead else []


def _moved(file: File, alias: ast.alias, raw: str, old: str, change: Rename) -> tuple[str, list[Edit]] | None:
    """The new full name, and the edits of the calls of the old one."""
    new = in_the_words_of(raw, change) + raw[len(old) :]
    importable = change.new and not hasattr(builtins, new) and all(part.isidentifier() for part in new.split("."))
    if not change.rewrite or change.template or change.suffix or not importable:
        return None
    calls = _calls_through(file, alias, change)
    return None if calls is None else (new, calls)


def _calls_through(file: File, alias: ast.alias, change: Rename) -> list[Edit] | None:
    """The edits of arguments wherever the imported name is called; None where it is used in other ways too."""
    if not (change.first or change.positional or change.keyword or change.most is not None):
        return []
    local = alias.asname or alias.name
    edits: list[Edit] = []
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Name) or node.id != local:
            continue
        call = call_of(file, node)
        if call is None and change.keyword and decorates(file, node):
            edits.append(tell.insert_after(file, node, f"({change.keyword})"))
            continue
        arguments = None if call is None else argument_edits(file, call, change)
        if arguments is None:
            return None
        edits += arguments
    return edits


def _plain_import(file: File, aliases: Sequence[ast.alias], targets: list[str]) -> list[Edit]:
    """`import a.b as c`. Without `as` it binds `a`, and what follows would still say a.b."""
    if not all(alias.asname for alias in aliases):
        return []
    return [tell.replace(file, alias, f"{new} as {alias.asname}") for alias, new in zip(aliases, targets, strict=True)]


def _other_module(
    file: File, statement: ast.ImportFrom, changed: Sequence[ast.alias], targets: list[str]
) -> list[Edit]:
    """All the names move to one other module under the names they have: only the module is written anew."""
    modules = {new.rpartition(".")[0] for new in targets}
    same_names = all(new.rpartition(".")[2] == alias.name for alias, new in zip(changed, targets, strict=True))
    if len(changed) != len(statement.names) or len(modules) != 1 or not same_names or "" in modules:
        return []
    place = re.compile(rf"from\s+({re.escape(statement.module or '')})(?=\s)").match(
        file.lines[statement.lineno - 1], file.column(statement.lineno, statement.col_offset) - 1
    )
    if place is None:
        return []
    line = statement.lineno
    return [Edit(file.shown, line, place.start(1) + 1, line, place.end(1) + 1, modules.pop())]


def _apart(file: File, statement: Any, changed: Sequence[ast.alias], targets: list[str]) -> list[Edit]:
    """The names that moved are imported by statements of their own."""
    line = file.lines[statement.lineno - 1]
    alone = line.lstrip().startswith("from") and not re.search(r"[#;\\]", line)
    if statement.lineno != statement.end_lineno or not alone:
        return []
    indent = line[: len(line) - len(line.lstrip())]
    kept = [one for one in statement.names if one not in changed]
    lines = [f"from {statement.module} import {', '.join(map(_written, kept))}"] if kept else []
    for alias, new in zip(changed, targets, strict=True):
        module, _, name = new.rpartition(".")
        local = alias.asname or alias.name
        suffix = "" if name == local else f" as {local}"
        lines.append(f"from {module} import {name}{suffix}" if module else f"import {name}{suffix}")
    return [tell.replace(file, statement, f"\n{indent}".join(lines))]


def _written(alias: ast.alias) -> str:
    return f"{alias.name} as {alias.asname}" if alias.asname else alias.name
