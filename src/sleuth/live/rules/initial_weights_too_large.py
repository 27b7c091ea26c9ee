"""Initial weights whose scale makes the first loss absurd."""

from __future__ import annotations

import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.2
# Usual initialisations have a standard deviation of 0.6 to 1.4 over the root of the inputs' number.
TIMES_USUAL = 4.0
# A sensible start costs about as much as answering blindly.
BAD_START = 4.0


def look(run: Run) -> Finding | None:
    chance = run.chance
    if chance is None or not run.looks or run.looks[0].step > 1 or run.loss.count < 8:
        return None
    if run.loss.first < BAD_START * chance:
        return None
    found = []
    for weight in run.looks[0].weights:
        if len(weight.shape) > 1 and not weight.is_embedding:
            inputs = math.prod(weight.shape[1:])
            found.append((weight.norm / math.prod(weight.shape) ** 0.5 * inputs**0.5, weight))
    scale, worst = max(found, key=lambda pair: pair[0], default=(0.0, None))
    if worst is None or scale < TIMES_USUAL:
        return None
    place = worst.initialised or worst.made
    return handbook.finding(
        "initial-weights-too-large",
        place=place,
        step=0,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("weight", worst.name),
            Evidence("its scale against 1/sqrt(fan_in)", scale),
            Evidence("first loss", run.loss.first),
            Evidence("loss of answering blindly", chance),
        ),
        chain=(
            Link(f"{worst.name} starts {scale:.3g} times as large as 1/sqrt(fan_in)", place),
            Link(f"the first loss is {run.loss.first:.4g}; a model that answers blindly has {chance:.4g}"),
        ),
        fixes=(
            Fix("use the layer's default, nn.init.kaiming_normal_ (ReLU) or nn.init.xavier_uniform_ (tanh, sigmoid)"),
        ),
    )
