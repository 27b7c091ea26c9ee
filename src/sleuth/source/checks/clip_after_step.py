"""Gradients clipped after the step has used them and before the next backward makes new ones."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace


def trace(trace: Trace) -> Iterator[Finding]:
    for clip in trace.of(*training.CLIPS):
        step = _step_just_before(trace, clip)
        if step is None or _has_no_limit(clip):
            continue
        yield tell.found(
            "clip-after-step",
            clip.site,
            certainty="certain",
            severity="error",
            chain=[
                tell.because(step.node, "the step uses the gradients as backward left them", step.site.spot.file),
                tell.because(clip.node, "they are clipped only now, when nobody uses them", clip.site.spot.file),
            ],
            fixes=[Fix("clip between backward() and step()")],
        )


def _step_just_before(trace: Trace, clip: Step) -> Step | None:
    """The step that came between backward and the clipping, with no step after the clipping until the next backward."""
    around = trace.within(clip.loops[-1]) if clip.loops else trace.steps
    if any(other.act in ("unknown", "grad") for other in around):
        return None
    here = around.index(clip)
    step = None
    for other in reversed(around[:here]):
        if other.act in training.BACKWARD:
            break
        if training.optimizer_of(other) is not None and training.implies(clip, other):
            step = step or other
    else:
        return None
    following = around[here + 1 :] + (around[:here] if clip.loops else [])
    nxt = next((one for one in following if one.act in training.BACKWARD or _may_move(one)), None)
    return step if nxt is None or nxt.act in training.BACKWARD else None


def _may_move(step: Step) -> bool:
    return step.act == "step" and step.receiver is not None and step.receiver.kind in ("optimizer", "scaler", "?")


def _has_no_limit(clip: Step) -> bool:
    """Only to measure the norm."""
    limit = clip.site.operand(1, "max_norm", "clip_value")
    return limit is None or limit.number() == float("inf")
