"""Initial weights so small that the signal dies on its way through the layers."""

from __future__ import annotations

import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.2
TIMES_USUAL = 0.1
# A model that learns nothing: its loss stays within this of answering blindly.
SHARE = 0.97


def look(run: Run) -> Finding | None:
    chance = run.chance
    if chance is None or not run.mature or not run.looks or run.looks[0].normalisations:
        return None
    if run.recent < SHARE * min(chance, run.start):
        return None
    layers = [w for w in run.looks[0].weights if len(w.shape) > 1 and not w.is_embedding]
    small = [(s, w) for w in layers[:-1] if 0 < (s := _scale(w.norm, w.shape)) < TIMES_USUAL]
    if not small:
        return None
    scale, first = small[0]
    place = first.initialised or first.made
    return handbook.finding(
        "initial-weights-too-small",
        place=place,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("weight", first.name),
            Evidence("its scale against 1/sqrt(fan_in)", scale),
            Evidence("layers like it", len(small)),
            Evidence("loss", run.recent),
        ),
        chain=(
            Link(
                f"{first.name} starts at {scale:.2g} times 1/sqrt(fan_in), and {len(small) - 1} other layers do too",
                place,
            ),
            Link("each such layer shrinks the signal, and the gradient on its way back"),
            Link(f"the loss is {run.recent:.4g} after {run.loss.count:,} steps; answering blindly costs {chance:.4g}"),
        ),
        fixes=(
            Fix("use the layer's default, nn.init.kaiming_normal_ (ReLU) or nn.init.xavier_uniform_ (tanh, sigmoid)"),
        ),
    )


def _scale(norm: float, shape: tuple[int, ...]) -> float:
    inputs = math.prod(shape[1:])
    return norm / math.sqrt(inputs * shape[0]) * math.sqrt(inputs)
