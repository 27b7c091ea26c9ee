"""Inputs far from the scale that initial weights and usual learning rates are made for, and training suffers."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.1
# Pixels of 0 to 255 have a spread of about 70; standardised data 1; anything normalised twice less than 0.02.
LARGE, TINY = 10.0, 0.02
# Suffering: the loss is still above this share of what answering blindly would cost, or started far above it.
SHARE, BAD_START = 0.8, 5.0


def look(run: Run) -> Finding | None:
    loss, chance = run.supervised, run.chance
    seen = [one.inputs[0] for one in run.looks if one.inputs]
    if loss is None or chance is None or not seen or not run.mature:
        return None
    suffers = run.recent > SHARE * chance or (run.loss.first > BAD_START * chance and run.recent > 0.5 * chance)
    if not suffers:
        return None
    one = seen[0]
    if one.normalised_first or not one.first_layer.startswith(("linear", "conv")):
        return None
    large = all(max(i.spread, abs(i.mean)) > LARGE for i in seen)
    tiny = all(0 < i.spread < TINY and abs(i.mean) < 1 for i in seen)
    if not (large or tiny):
        return None
    return handbook.finding(
        "unnormalised-inputs",
        place=one.place,
        step=run.looks[0].step,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("input minimum", one.low),
            Evidence("input maximum", one.high),
            Evidence("input mean", one.mean),
            Evidence("input standard deviation", one.spread),
            Evidence("loss", run.recent),
            Evidence("loss of answering blindly", chance),
        ),
        chain=(
            Link(f"the model gets inputs from {one.low:.4g} to {one.high:.4g}", one.place),
            Link(f"its first layer is a {one.first_layer}, made for inputs around 0 with a spread of 1"),
            Link(f"after {run.loss.count:,} steps the loss is {run.recent:.4g}; answering blindly costs {chance:.4g}"),
        ),
        fixes=(Fix("standardise the inputs: (x - mean) / std, with the training set's mean and std"),),
    )
