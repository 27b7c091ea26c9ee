"""A last activation whose range leaves out many of the targets."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 1
RANGES = {"sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "relu": (0.0, float("inf")), "softmax": (0.0, 1.0)}
# A tenth of the targets or more lie outside, by at least this share of the targets' spread: not a few odd ones.
BEYOND = 0.1
LOOKS = 2


def look(run: Run) -> Finding | None:
    found = []
    for loss in run.training_losses:
        if loss.function not in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss") or not loss.is_root:
            continue
        low, high = RANGES.get(loss.made_by, (float("-inf"), float("inf")))
        lowest, highest = loss.extra["target_low_tenth"], loss.extra["target_high_tenth"]
        slack = BEYOND * max(highest - lowest, 1e-12)
        if lowest < low - slack or highest > high + slack:
            found.append(loss)
    if len(found) < LOOKS:
        return None
    loss = found[-1]
    low, high = RANGES[loss.made_by]
    return handbook.finding(
        "output-cannot-reach-target",
        place=loss.made_at,
        step=run.looks[0].step,
        evidence=(
            Evidence("lowest possible output", low),
            Evidence("highest possible output", high),
            Evidence("target minimum", loss.target_low),
            Evidence("target maximum", loss.target_high),
        ),
        chain=(
            Link(f"the model's output ends in {loss.made_by}: {low:g} to {high:g}", loss.made_at),
            Link(f"the targets go from {loss.target_low:.4g} to {loss.target_high:.4g}", loss.place),
        ),
        fixes=(Fix("leave the last layer linear"), Fix("or scale the targets into the range of the activation")),
    )
