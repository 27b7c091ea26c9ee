"""Gradients that grow a thousandfold while they are still finite."""

from __future__ import annotations

import statistics

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run, WeightLook

TIER = 3.0
GROWTH = 1000.0
# A norm that starts near nothing may grow a thousandfold in peace; one burst may be one odd batch.
LARGE, BURSTS = 100.0, 2


def look(run: Run) -> Finding | None:
    if run.gradient.count < 50 or len(run.looks) < 3:
        return None
    usual = max(run.gradient.median(), run.gradient.median(0.0, 0.1))
    early, late = run.gradient.median(0.0, 0.1), run.gradient.median(0.8, 1.0)
    grows = late > GROWTH * max(early, 1e-12) and late > LARGE and run.recent > 0.9 * run.start
    bursts = sum(stretch.high > max(GROWTH * usual, LARGE) for stretch in run.gradient)
    if not grows and bursts < BURSTS:
        return None
    early, late = (early, late) if grows else (usual, run.gradient.highest)
    growth, worst = max(_growths(run), key=lambda pair: pair[0], default=(0.0, None))
    place = worst.made if worst is not None else run.backward_place
    return handbook.finding(
        "gradient-explosion",
        title="the gradients grew a thousandfold",
        place=place,
        step=run.step,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("usual gradient norm", early),
            Evidence("largest gradient norm", late),
            Evidence("layer that grew most", worst.name if worst is not None else "unknown"),
        ),
        chain=(
            Link(f"the gradient norm went from {early:.3g} to {late:.3g}", run.backward_place),
            *((Link(f"most in {worst.name}, {growth:.3g} times", worst.made),) if worst is not None else ()),
            Link(f"the loss went from {run.start:.4g} to {run.recent:.4g}"),
        ),
        fixes=(
            Fix("clip the gradients: torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"),
            Fix("lower the learning rate"),
        ),
    )


def _growths(run: Run) -> list[tuple[float, WeightLook]]:
    """How far the gradient of each weight has swung over the looks."""
    sizes: dict[str, list[float]] = {}
    weights = {}
    for one in run.looks:
        for weight in one.weights:
            if weight.gradient_norm and len(weight.shape) > 1:
                sizes.setdefault(weight.name, []).append(weight.gradient_norm)
                weights[weight.name] = weight
    return [(max(norms) / statistics.median(norms), weights[name]) for name, norms in sizes.items()]
