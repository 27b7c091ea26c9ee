"""The first layers get a vanishing share of the gradient, and the network does not learn."""

from __future__ import annotations

import math
import statistics

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Look, Run

TIER = 2.3
LOOKS = 3
LAYERS = 4
# Gradient a weight in the first layer against the last. Healthy deep networks stay within a factor of a hundred.
SHARE = 1e-3
# The largest of the first few speaks: attention's queries and keys, which stand first, always have little.
FIRST = 3 / 8
# Where the share was ever larger than this, it is updates that made it vanish: a matter of the learning rate.
AT_TIMES = 1e-2
LEARNT = 0.9


def look(run: Run) -> Finding | None:
    if run.supervised is None or not run.mature or run.learns(LEARNT):
        return None
    shares = [share for one in run.looks if (share := _share(one)) is not None]
    if len(shares) < LOOKS or statistics.median(shares[1:]) > SHARE or max(shares) > AT_TIMES:
        return None
    layers = [
        w for w in run.looks[-1].weights if len(w.shape) > 1 and w.gradient_norm is not None and not w.is_embedding
    ]
    first, last = layers[0], layers[-1]
    return handbook.finding(
        "vanishing-gradients",
        place=first.made,
        step=run.looks[0].step,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("gradient norm of the first layer", first.gradient_norm),
            Evidence("gradient norm of the last layer", last.gradient_norm),
            Evidence("share, gradient a weight", statistics.median(shares)),
            Evidence("layers", len(layers)),
        ),
        chain=(
            Link(f"the gradient of {last.name} is {last.gradient_norm:.3g}", last.made),
            Link(
                f"on its way through {len(layers)} layers it shrinks to {first.gradient_norm:.3g} at {first.name}",
                first.made,
            ),
            Link(f"the loss has not moved: {run.start:.4g} at first, {run.recent:.4g} at last"),
        ),
        fixes=(
            Fix("use ReLU or GELU instead of sigmoid or tanh between the layers"),
            Fix("add normalisation layers or residual connections, and an initialisation that fits the activation"),
        ),
    )


def _share(one: Look) -> float | None:
    sizes = []
    for weight in one.weights:
        if len(weight.shape) > 1 and weight.gradient_norm is not None and not weight.is_embedding:
            sizes.append(weight.gradient_norm / math.sqrt(math.prod(weight.shape)))
    if len(sizes) < LAYERS or sizes[-1] <= 0:
        return None
    return max(sizes[: max(1, int(FIRST * len(sizes)))]) / sizes[-1]
