"""A ReLU layer whose units give 0 for every sample."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.3
LOOKS = 3
# Sparse layers have dead units; a layer with nine in ten of them passes nothing on.
DEAD = 0.9
UNITS, SAMPLES = 4, 8


def look(run: Run) -> Finding | None:
    if not run.mature:
        return None
    by_place: dict[tuple[str, int, str], list[tuple[int, float]]] = {}
    last = {}
    for one in run.looks:
        for activation in one.activations:
            if activation.kind != "relu" or not activation.hidden or activation.place is None:
                continue
            if activation.units < UNITS or activation.samples < SAMPLES:
                continue
            key = (activation.place.path, activation.place.line, activation.layer)
            by_place.setdefault(key, []).append((one.step, activation.dead))
            last[key] = activation
    for key, shares in by_place.items():
        if len(shares) < LOOKS or any(share < DEAD for _, share in shares[-LOOKS:]):
            continue
        activation = last[key]
        from_the_start = shares[0][1] >= DEAD
        died = next((step for step, share in shares if share >= DEAD), 0)
        held = run.optimizers[0] if run.optimizers else None
        place = activation.layer_made or activation.place if from_the_start or held is None else held.made
        return handbook.finding(
            "dead-units",
            place=place,
            step=died,
            certainty="likely",
            severity="warning",
            root_cause="model-configuration" if from_the_start else "hyperparameter",
            evidence=(
                Evidence("layer", activation.layer),
                Evidence("units", activation.units),
                Evidence("share of units that are 0 for every sample", shares[-1][1]),
                Evidence("share at first", shares[0][1]),
            ),
            chain=(
                Link(
                    f"{shares[-1][1]:.0%} of the units of {activation.layer} are 0 for every sample", activation.place
                ),
                Link("they were so from the start: weights or bias keep them below 0", activation.layer_made)
                if from_the_start
                else Link(
                    f"at first {shares[0][1]:.0%} were; by step {died} updates"
                    + (f" with lr = {held.highest_rate:g}" if held is not None else "")
                    + " had pushed them below 0",
                    held.made if held is not None else None,
                ),
                Link("a unit at 0 gets no gradient and stays there"),
            ),
            fixes=(
                (Fix("start the bias at 0 and the weights from nn.init.kaiming_normal_"), Fix("use LeakyReLU or GELU"))
                if from_the_start
                else (Fix("lower the learning rate"), Fix("use LeakyReLU or GELU"), Fix("clip the gradients"))
            ),
        )
    return None
