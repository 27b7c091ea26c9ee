"""A tf.Variable created every time that a tf.function runs."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

CALLS = ("tensorflow.Variable",)


def call(site: Site) -> Finding | None:
    function = site.spot.function
    # Under a condition it may be created in the first call alone, which is allowed.
    if function is None or not function.decorated_with("tensorflow.function") or site.spot.tests:
        return None
    return tell.found(
        "variable-created-in-function",
        site,
        chain=[
            tell.because(function.node, f"{function.name} is a tf.function: its body becomes a graph", function.file),
            tell.because(site.node, "a graph cannot create a variable each time it runs", site.spot.file),
        ],
        fixes=[Fix("create the variable once, outside the function (in __init__), and assign to it inside")],
    )
