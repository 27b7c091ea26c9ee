"""The edits that bring a use of a changed name up to date. Where that would be a guess there are none."""

from __future__ import annotations

import ast
import re
from typing import Any, Final

from sleuth.findings import Edit
from sleuth.source import tell
from sleuth.source.changes import Rename
from sleuth.source.changes.guards import parents
from sleuth.source.changes.spelling import in_the_words_of, spelled
from sleuth.source.scopes import File

_ANOTHER: Final = re.compile(r"\{=([\w.]+)\}")
_SIMPLE: Final = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.List | ast.Tuple


def edits_of(file: File, node: ast.AST, raw: str, change: Rename) -> list[Edit]:
    """What to write instead of a dotted expression, and instead of the call of it."""
    if not change.rewrite or not (change.new or change.template):
        return []
    new = spelled(file, in_the_words_of(raw, change), node, raw) if change.new else ""
    call = call_of(file, node)
    if new is None:
        return []
    if change.template:
        return [] if call is None else _from_template(file, call, new, change)
    if call is None:
        return _without_call(file, node, new, change)
    arguments = argument_edits(file, call, change)
    return [] if arguments is None else [tell.replace(file, node, new + change.suffix), *arguments]


def call_of(file: File, node: ast.AST) -> ast.Call | None:
    """The call whose function this expression is."""
    parent = parents(file).get(id(node))
    return parent if isinstance(parent, ast.Call) and parent.func is node else None


def decorates(file: File, node: ast.AST) -> bool:
    return node in getattr(parents(file).get(id(node)), "decorator_list", ())


def _without_call(file: File, node: Any, new: str, change: Rename) -> list[Edit]:
    if change.first or change.positional:
        return []
    if change.keyword:
        return [tell.replace(file, node, f"{new}({change.keyword})")] if decorates(file, node) else []
    return [tell.replace(file, node, new + change.suffix)]


def argument_edits(file: File, call: ast.Call, change: Rename) -> list[Edit] | None:
    """What happens to the arguments; None where they are more than we know how to carry over."""
    if change.most is not None and not _is_plain(call, change):
        return None
    starred = any(isinstance(one, ast.Starred) for one in call.args)
    if change.positional and (starred or len(call.args) > len(change.positional)):
        return None
    edits: list[Edit] = []
    given: list[Any] = sorted([*call.args, *call.keywords], key=lambda one: (one.lineno, one.col_offset))
    if change.first and not given:
        edits.append(tell.add_argument(file, call, change.first))
    for index, argument in enumerate(given):
        front = f"{change.first}, " if change.first and index == 0 else ""
        if change.positional and argument in call.args:
            front += f"{change.positional[call.args.index(argument)]}="
        if front:
            edits.append(tell.insert_before(file, argument, front))
    if change.keyword:
        names = {keyword.arg for keyword in call.keywords}
        if None in names or names & set(re.findall(r"(\w+)=", change.keyword)):
            return None
        edits.append(tell.add_argument(file, call, change.keyword))
    return edits


def _is_plain(call: ast.Call, change: Rename) -> bool:
    return (
        len(call.args) <= (change.most or 0)
        and not any(isinstance(one, ast.Starred) for one in call.args)
        and all(keyword.arg in change.ignores for keyword in call.keywords)
    )


def _from_template(file: File, call: ast.Call, new: str, change: Rename) -> list[Edit]:
    if change.most is not None and (len(call.args) != change.most or not _is_plain(call, change)):
        return []
    if change.most is None and (call.keywords or not call.args):
        return []
    texts = [file.source(argument) for argument in call.args]
    others = {name: spelled(file, name, call.func) for name in _ANOTHER.findall(change.template)}
    if None in others.values() or any("\n" in text or "#" in text for text in texts):
        return []
    text = _ANOTHER.sub(lambda found: str(others[found[1]]), change.template)
    text = text.replace("{args}", ", ".join(texts)).replace("{new}", new).replace("{ending}", change.ending)
    pieces = re.split(r"(\{\d\})", text)
    for index in range(1, len(pieces), 2):
        position = int(pieces[index][1:-1])
        stands_free = pieces[index - 1][-1:] in ("(", " ", "[") and pieces[index + 1][:1] in (")", ",", "]")
        keep = stands_free or isinstance(call.args[position], _SIMPLE)
        pieces[index] = texts[position] if keep else f"({texts[position]})"
    return [tell.replace(file, call, "".join(pieces))]
