"""Several linear layers with nothing between them, in a model with no nonlinearity at all."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.4
LOOKS = 3


def look(run: Run) -> Finding | None:
    seen = [one for one in run.looks if one.linear_pairs and one.nonlinearities == 0]
    if run.supervised is None or len(seen) < LOOKS or len(seen) < 0.9 * len(run.looks):
        return None
    first, second, place = seen[0].linear_pairs[0]
    layers = [w for w in seen[0].weights if len(w.shape) == 2]
    if len(layers) < 2:
        return None
    narrow = min(w.shape[0] for w in layers[:-1])
    if narrow < min(layers[0].shape[1], layers[-1].shape[0]):
        # A bottleneck limits the rank: that may be what the layers are for.
        return None
    return handbook.finding(
        "no-nonlinearity",
        place=place,
        step=seen[0].step,
        certainty="likely",
        severity="warning",
        evidence=(Evidence("linear layers", len(layers)), Evidence("nonlinear functions", 0)),
        chain=(
            Link(f"{second} gets the output of {first} as it is", place),
            Link("a chain of linear maps is one linear map, however many layers it has"),
        ),
        fixes=(Fix("put an activation such as nn.ReLU() between the layers"),),
    )
