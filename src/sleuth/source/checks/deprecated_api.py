"""A name of a library that still works, and that the library asks its users to leave."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding
from sleuth.source.changes import methods, names
from sleuth.source.changes.naming import called_names, in_call, in_use
from sleuth.source.changes.standing import Standing
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Site, Use
from sleuth.source.values import Value

USES = tuple(name for name, change in names().items() if change.since is not None)
CALLS = (*called_names(), *methods.calls())
_WANTED = (Standing.DEPRECATED,)


def use(use: Use) -> Finding | None:
    return in_use(use, "deprecated-api", _WANTED)


def call(site: Site) -> Finding | None:
    return in_call(site, "deprecated-api", _WANTED) or methods.in_call(site, "deprecated-api", _WANTED)


def klass(cls: ClassInfo, instance: Value) -> Iterator[Finding]:
    return methods.in_class(cls, "deprecated-api", _WANTED)
