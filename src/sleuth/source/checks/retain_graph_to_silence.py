"""backward(retain_graph=True) where nothing goes through that graph again."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for backward in trace.of("backward"):
        kept = backward.site.keywords.get("retain_graph")
        if kept is None or kept.const is not True or not backward.loops or len(backward.site.keywords) > 1:
            continue
        loop, file = backward.loops[-1], backward.site.spot.file
        # A round of an outer loop may go through the same graph once more.
        around = trace.within(backward.loops[0])
        others = [one for one in around if one is not backward and one.act in (*training.BACKWARD, "unknown")]
        carried = any(one.node is loop for one in trace.of("carried"))
        if others or carried or "autograd" in file.text or "create_graph" in file.text:
            continue
        yield tell.found(
            "retain-graph-to-silence",
            backward.site,
            certainty="hint",
            severity="note",
            chain=[tell.because(backward.node, "it is the only backward in this loop", file)],
            fixes=[
                Fix("leave out retain_graph=True; if backward then fails, detach() what earlier rounds left behind")
            ],
        )
