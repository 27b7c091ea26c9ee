"""A call that leaves out an argument which the library no longer fills in."""

from __future__ import annotations

from sleuth.findings import Edit, Finding
from sleuth.source import tell
from sleuth.source.changes import Needed, needed
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere, judge, told
from sleuth.source.changes.spelling import spelled
from sleuth.source.changes.standing import Standing
from sleuth.source.sites import Site

CALLS = tuple(needed())


def call(site: Site) -> Finding | None:
    change = needed()[site.name]
    file = site.spot.file
    if is_elsewhere(site.spot) or site.star or change.old in site.keywords or len(site.args) > change.position:
        return None
    judged = judge(file, change)
    if judged is None or is_guarded(file, site.node):
        return None
    verb = "is now required by" if judged[0] is not Standing.DEPRECATED else "should be given to"
    return told(
        "argument-now-required",
        file,
        site.node,
        [(change.old, change)],
        *judged,
        _edits(site, change),
        title=f"{change.old} {verb} {site.name}",
    )


def _edits(site: Site, change: Needed) -> list[Edit]:
    file = site.spot.file
    given = tell.add_argument(file, site.node, f"{change.old}={change.value}")
    if not change.wrap:
        return [given]
    around = spelled(file, change.wrap, site.node.func, site.name)
    if around is None:
        return []
    closing = tell.insert_after(file, site.node, ")")
    return [tell.insert_before(file, site.node, f"{around}("), given, closing]
