"""`torch.load` without `weights_only`, in versions in which the file may run any code."""

from __future__ import annotations

import re

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere
from sleuth.source.sites import Site
from sleuth.source.targets import allowed_for

CALLS = ("torch.load",)
# weights_only came with 1.13 and has been the default since 2.6.
_POSSIBLE_SINCE = (1, 13)
_DEFAULT_SINCE = (2, 6)
_SAVES = re.compile(r"\btorch\.save\(")


def call(site: Site) -> Finding | None:
    file = site.spot.file
    if is_elsewhere(site.spot) or site.star or site.given("weights_only", "pickle_module") or len(site.args) > 2:
        return None
    allowed = allowed_for(file, "torch")
    if allowed.always_has(_DEFAULT_SINCE) or not allowed.always_has(_POSSIBLE_SINCE) or is_guarded(file, site.node):
        return None
    # A program that reads back what it wrote itself trusts the file with reason.
    own = bool(_SAVES.search(file.text))
    edit = tell.add_argument(file, site.node, "weights_only=True")
    return tell.found(
        "unsafe-load",
        site,
        certainty="hint" if own else "certain",
        severity="note" if own else "warning",
        evidence=[Evidence("torch versions allowed", str(allowed))],
        fixes=[Fix("give weights_only=True: tensors and plain containers are read, nothing is run", (edit,))],
    )
