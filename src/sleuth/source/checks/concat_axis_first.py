"""`tf.concat(0, [a, b])`: the order of TensorFlow 0.x."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.changes.guards import is_guarded
from sleuth.source.changes.naming import is_elsewhere
from sleuth.source.sites import Site
from sleuth.source.targets import allowed_for

CALLS = ("tensorflow.concat", "tensorflow.compat.v1.concat")
# TensorFlow 1.0 put the values first, as NumPy does.
_VALUES_FIRST_SINCE = (1,)


def call(site: Site) -> Finding | None:
    given, file = site.node.args, site.spot.file
    if (
        is_elsewhere(site.spot)
        or len(given) < 2
        or not isinstance(given[0], ast.Constant)
        or not isinstance(given[0].value, int)
    ):
        return None
    if not isinstance(given[1], ast.List | ast.Tuple) and site.args[1].kind not in ("sequence", "tensor"):
        return None
    if not allowed_for(file, "tensorflow").always_has(_VALUES_FIRST_SINCE) or is_guarded(file, site.node):
        return None
    axis, values = file.source(given[0]), file.source(given[1])
    edits = (tell.replace(file, given[0], values), tell.replace(file, given[1], axis))
    return tell.found("concat-axis-first", site, fixes=[Fix("give the values first, then the axis", edits, safe=True)])
