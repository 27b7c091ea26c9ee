"""Weight decay that pulls the weights to 0 faster than learning builds them up."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 2.3
# What is left of the weights' norm; ordinary decay takes a few per cent over a run.
LEFT = 0.3
LEARNT = 0.9


def look(run: Run) -> Finding | None:
    held = next(iter(run.stepping), None)
    if held is None or not held.settings.get("weight_decay") or not run.mature or len(run.looks) < 4:
        return None
    if run.supervised is None or run.learns(LEARNT):
        return None
    first = {w.name: w.norm for w in run.looks[0].weights if len(w.shape) > 1 and w.norm > 0}
    last = {w.name: w.norm for w in run.looks[-1].weights if w.name in first}
    shares = sorted(last[name] / first[name] for name in last)
    if not shares or shares[len(shares) // 2] > LEFT:
        return None
    decay = held.settings["weight_decay"]
    return handbook.finding(
        "weight-decay-too-high",
        place=held.made,
        step=run.looks[0].step,
        certainty="likely",
        severity="warning",
        evidence=(
            Evidence("weight_decay", decay),
            Evidence("what is left of the weights' norm", shares[len(shares) // 2]),
            Evidence("loss", run.recent),
        ),
        chain=(
            Link(f"weight_decay = {decay:g} takes a share of every weight at each step", held.made),
            Link(
                f"the weights have shrunk to {shares[len(shares) // 2]:.0%} of their size, "
                f"and the loss stays at {run.recent:.4g}"
            ),
        ),
        fixes=(Fix("lower weight_decay: 0 to 1e-4 with SGD or Adam, up to 0.1 with AdamW"),),
    )
