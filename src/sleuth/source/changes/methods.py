"""Finds calls of methods that changed, and methods of the user's classes that a library no longer calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from sleuth.findings import Edit, Finding
from sleuth.source import tell
from sleuth.source.changes import Hook, Method, all_methods, hooks
from sleuth.source.changes.arguing import imports
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere, judge, told
from sleuth.source.changes.standing import Standing
from sleuth.source.keras import is_model
from sleuth.source.scopes import ClassInfo, File
from sleuth.source.sites import Site


@cache
def calls() -> tuple[str, ...]:
    return tuple(f"*.{name}" for name in all_methods())


def in_call(site: Site, diagnosis: str, wanted: tuple[Standing, ...]) -> Finding | None:
    """A finding for a call of a method that is gone or going."""
    change = all_methods().get(site.name.rpartition(".")[2])
    if change is None or not isinstance(site.node, ast.Call) or is_elsewhere(site.spot) or not _belongs(site, change):
        return None
    file = site.spot.file
    judged = judge(file, change)
    if judged is None or judged[0] not in wanted or is_guarded(file, site.node):
        return None
    return told(diagnosis, file, site.node.func, [(_subject(change), change)], *judged, _edits(file, site.node, change))


def _belongs(site: Site, change: Method) -> bool:
    receiver = site.receiver
    if receiver is None or receiver.kind not in change.on:
        return False
    if receiver.kind == "instance":
        return is_model(receiver)
    if receiver.kind == "?":
        return imports(site.spot.file, change.library)
    return not change.makers or receiver.api.startswith(change.makers)


def _subject(change: Method) -> str:
    kind = {"loader": "DataLoader iterator", "tensor": "Tensor", "module": "Model"}.get(change.on[0], "object")
    return f"method {change.old} of {kind}"


def _edits(file: File, call: ast.Call, change: Method) -> list[Edit]:
    function = call.func
    if not isinstance(function, ast.Attribute) or not change.rewrite:
        return []
    if change.template:
        return [] if call.args or call.keywords else [_anew(file, call, function, change)]
    if not change.new.isidentifier():
        return []
    _, (line, column) = file.span(function)
    return [Edit(file.shown, line, column - len(change.old), line, column, change.new)]


def _anew(file: File, call: ast.Call, function: ast.Attribute, change: Method) -> Edit:
    return tell.replace(file, call, change.template.replace("{self}", file.source(function.value)))


def in_class(cls: ClassInfo, diagnosis: str, wanted: tuple[Standing, ...]) -> Iterator[Finding]:
    """A finding for each method that the library would have called once."""
    for hook in hooks():
        method = cls.methods.get(hook.old)
        if method is None or not cls.derives_from(*hook.of) or _calls_it_itself(cls, hook):
            continue
        judged = judge(cls.file, hook)
        if judged is not None and judged[0] in wanted and not is_guarded(cls.file, method.node):
            yield told(diagnosis, cls.file, method.node, [(_hook(hook), hook)], *judged, [])


def _calls_it_itself(cls: ClassInfo, hook: Hook) -> bool:
    return any(f"self.{hook.old}(" in one.file.text for one in cls.lineage())


def _hook(hook: Hook) -> str:
    return f"hook {hook.old} of {hook.of[0]}"
