"""Each backward pass goes through the graphs of all steps before."""

from __future__ import annotations

import itertools

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 0
LOOKS = 6
# Growing at every look, to several times its first size, and as far in the second half as in the first.
TIMES = 3.0


def look(run: Run) -> Finding | None:
    sizes = dict(run.graph_sizes)
    steps = sorted(sizes)
    if len(steps) < LOOKS or len(run.stepping) != 1:
        return None
    counts = [sizes[step] for step in steps]
    if any(later <= earlier for earlier, later in itertools.pairwise(counts)) or counts[-1] < TIMES * counts[0]:
        return None
    per_step = (counts[-1] - counts[0]) / (steps[-1] - steps[0])
    return handbook.finding(
        "graph-grows-every-step",
        place=run.backward_place,
        step=steps[0],
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("operations in the graph at first", counts[0]),
            Evidence("at last", counts[-1]),
            Evidence("more at each step", per_step),
        ),
        chain=(
            Link("a value is carried from round to round with its graph"),
            Link("this backward pass goes back through every round so far", run.backward_place),
        ),
        fixes=(Fix("detach what is carried over, e.g. hidden = hidden.detach(), and drop retain_graph=True"),),
    )
