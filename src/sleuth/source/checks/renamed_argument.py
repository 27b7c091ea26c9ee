"""An argument that a function or class no longer takes, or asks its callers to give by another name."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding
from sleuth.source.changes import arguing
from sleuth.source.sites import Site

CALLS = arguing.calls()


def call(site: Site) -> Iterator[Finding]:
    return arguing.outdated(site, "renamed-argument")
