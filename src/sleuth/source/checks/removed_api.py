"""A name of a library that is no longer there in versions the project allows."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding
from sleuth.source.changes import methods, names
from sleuth.source.changes.naming import called_names, in_call, in_use
from sleuth.source.changes.standing import Standing
from sleuth.source.scopes import ClassInfo
from sleuth.source.sites import Site, Use
from sleuth.source.values import Value

USES = tuple(names())
CALLS = (*called_names(), *methods.calls())
_WANTED = (Standing.GONE, Standing.PARTLY_GONE)


def use(use: Use) -> Finding | None:
    return in_use(use, "removed-api", _WANTED)


def call(site: Site) -> Finding | None:
    return in_call(site, "removed-api", _WANTED) or methods.in_call(site, "removed-api", _WANTED)


def klass(cls: ClassInfo, instance: Value) -> Iterator[Finding]:
    return methods.in_class(cls, "removed-api", _WANTED)
