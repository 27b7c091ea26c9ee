"""A loss that swings up and down without getting anywhere."""

from __future__ import annotations

import math

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.3
# One frequency carries this share of all ups and downs; in the noise of batches none does.
SHARE = 0.3
# The swings against the loss itself, and the longest that still is an oscillation.
SWING, LONGEST = 0.1, 40
VALUES = 256


def look(run: Run) -> Finding | None:
    if run.supervised is None or not run.mature or run.learns(0.5):
        return None
    values = [stretch.mean for stretch in run.loss.stretches][-VALUES:]
    if any(stretch.count > 1 for stretch in run.loss.stretches):
        return None
    period, share = _strongest(values)
    mean = sum(values) / len(values)
    swing = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5 / max(abs(mean), 1e-12)
    epoch = run.batches_per_epoch
    if share < SHARE or swing < SWING or period > LONGEST or (epoch and abs(period - epoch) < 0.1 * epoch):
        return None
    held = run.stepping[0]
    return handbook.finding(
        "loss-oscillates",
        place=held.made,
        step=0,
        certainty="hint",
        severity="note",
        evidence=(
            Evidence("steps from crest to crest", period),
            Evidence("share of the ups and downs in this rhythm", share),
            Evidence("swing against the loss", swing),
            Evidence("lr", held.highest_rate),
        ),
        chain=(
            Link(f"{held.kind} is built with lr = {held.highest_rate:g}", held.made),
            Link(
                f"the loss goes up and down every {period:.3g} steps, by {swing:.0%} of its value", run.backward_place
            ),
        ),
        fixes=(Fix("lower the learning rate, or the momentum"), Fix("use larger batches")),
    )


def _strongest(values: list[float]) -> tuple[float, float]:
    """The period of the strongest frequency in a series, and its share of the series' power."""
    count = len(values)
    mean = sum(values) / count
    centred = [value - mean for value in values]
    powers = []
    for waves in range(2, count // 2 + 1):
        turn = 2 * math.pi * waves / count
        real = sum(value * math.cos(turn * i) for i, value in enumerate(centred))
        imaginary = sum(value * math.sin(turn * i) for i, value in enumerate(centred))
        powers.append((real * real + imaginary * imaginary, count / waves))
    total = sum(power for power, _ in powers) or 1.0
    # A rhythm between two of the frequencies shows in both.
    best = max(range(len(powers)), key=lambda i: powers[i][0])
    near = sum(power for power, _ in powers[max(0, best - 2) : best + 3])
    return powers[best][1], near / total
