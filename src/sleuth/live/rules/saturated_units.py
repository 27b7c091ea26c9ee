"""Hidden sigmoid or tanh units stuck at the ends of their range."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.3
LOOKS = 3
SATURATED, FROM_THE_START = 0.9, 0.5
UNITS = 4
# Where it was less at first, a network that learns all the same is left alone.
LEARNT = 0.5


def look(run: Run) -> Finding | None:
    if not run.mature:
        return None
    suffers = run.supervised is None or not run.learns(LEARNT)
    by_place: dict[tuple[str, int, str], list[float]] = {}
    last = {}
    for one in run.looks:
        for activation in one.activations:
            if activation.kind == "relu" or not activation.hidden or activation.place is None:
                continue
            if activation.units >= UNITS:
                key = (activation.place.path, activation.place.line, activation.layer)
                by_place.setdefault(key, []).append(activation.saturated)
                last[key] = activation
    for key, shares in by_place.items():
        if len(shares) < LOOKS or any(share < SATURATED for share in shares[-LOOKS:]):
            continue
        if min(shares) < SATURATED and (not suffers or shares[0] < FROM_THE_START):
            # Updates drove them there: a matter of the learning rate.
            continue
        activation = last[key]
        return handbook.finding(
            "saturated-units",
            place=activation.place,
            step=run.looks[0].step,
            certainty="likely",
            severity="warning",
            evidence=(
                Evidence("activation", activation.kind),
                Evidence("layer", activation.layer),
                Evidence("share of values at its ends", shares[-1]),
                Evidence("share at first", shares[0]),
                Evidence("mean size of its inputs", activation.input_size),
            ),
            chain=(
                Link(f"{activation.layer} gives values of size {activation.input_size:.3g}", activation.layer_made),
                Link(
                    f"there {activation.kind} is flat: {shares[-1]:.0%} of its values lie at the ends", activation.place
                ),
                Link("its derivative is about 0, so the layers before it do not learn"),
            ),
            fixes=(
                Fix("scale down what goes in: standardise the inputs, start from nn.init.xavier_uniform_"),
                Fix("put a normalisation layer before it, or use ReLU"),
            ),
        )
    return None
