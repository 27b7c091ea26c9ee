"""An evaluation loop after eval() that records a graph for gradients nobody asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace

# Gradients switched off elsewhere, or wanted after all.
_ANOTHER_WAY = re.compile(r"set_grad_enabled|inference_mode|autograd\.grad|volatile|requires_grad|\.grad\b|jax")


def trace(trace: Trace) -> Iterator[Finding]:
    told: set[int] = set()
    for put in trace.of("eval"):
        forward = _evaluation_after(trace, put)
        if forward is None or id(forward.loops[-1]) in told or forward.site.spot.without_grad:
            continue
        file = forward.site.spot.file
        if _ANOTHER_WAY.search(file.text) or put.site.spot.file is not file:
            continue
        told.add(id(forward.loops[-1]))
        yield tell.found(
            "evaluation-without-no-grad",
            forward.site,
            certainty="hint",
            severity="note",
            chain=[
                tell.because(
                    put.node, "eval() switches dropout off, not the recording of gradients", put.site.spot.file
                ),
                tell.because(forward.node, "each call keeps its activations for a backward pass", file),
            ],
            fixes=[Fix("put the loop into `with torch.no_grad():` (or torch.inference_mode())")],
        )


def _evaluation_after(trace: Trace, put: Step) -> Step | None:
    """The call of the same network in a loop without backward, before train() is called again."""
    for step in trace.steps[trace.steps.index(put) + 1 :]:
        if step.act in ("train", "unknown", *training.BACKWARD):
            return None
        if step.act in ("forward", "call") and training.is_same(step.receiver, put.receiver) and step.loops:
            used = any(one.act in (*training.BACKWARD, "step", "unknown") for one in trace.within(step.loops[-1]))
            return None if used or training.runs_once(step.loops[-1]) else step
    return None
