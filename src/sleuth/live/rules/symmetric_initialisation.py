"""A hidden layer all of whose units have the same weights, and keep them."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.2
LOOKS = 3


def look(run: Run) -> Finding | None:
    by_name: dict[str, list[bool]] = {}
    for one in run.looks:
        for weight in one.weights:
            if weight.rows_equal is not None and weight.gradient_norm is not None and not weight.is_embedding:
                by_name.setdefault(weight.name, []).append(weight.rows_equal)
    for name, equal in by_name.items():
        if len(equal) < LOOKS or not all(equal):
            continue
        weight = next(w for one in run.looks for w in one.weights if w.name == name)
        return handbook.finding(
            "symmetric-initialisation",
            place=weight.initialised or weight.made,
            step=run.looks[0].step,
            evidence=(
                Evidence("weight", name),
                Evidence("units with equal weights", weight.shape[0]),
                Evidence("looks in which they were equal", len(equal)),
            ),
            chain=(
                Link(
                    f"all {weight.shape[0]} units of {name} start with the same weights",
                    weight.initialised or weight.made,
                ),
                Link(f"equal units get equal gradients: after step {run.looks[-1].step} they are equal still"),
            ),
            fixes=(Fix("start from random weights: leave the layer's default, or nn.init.kaiming_uniform_"),),
        )
    return None
