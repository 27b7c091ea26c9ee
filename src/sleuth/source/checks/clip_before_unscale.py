"""Gradients clipped while they are still multiplied by the GradScaler's factor."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value, ancestors


def trace(trace: Trace) -> Iterator[Finding]:
    for clip in trace.of(*training.CLIPS):
        scaled = _last_backward(trace, clip)
        scaler = None if scaled is None else _scaler_of(trace, scaled)
        if scaled is None or scaler is None or _is_undone(trace, scaled, clip) or _knows_the_scale(clip):
            continue
        step = next((one for one in trace.of("step") if one.receiver is scaler), None)
        if step is None:
            continue
        yield tell.found(
            "clip-before-unscale",
            clip.site,
            certainty="certain",
            severity="error",
            chain=[
                tell.because(scaled.node, "the loss is multiplied by the scale", scaled.site.spot.file),
                tell.because(clip.node, "the gradients are clipped as they are", clip.site.spot.file),
                tell.because(step.node, "only the scaler's step divides them again", step.site.spot.file),
            ],
            fixes=[_fix(clip, step)],
        )


def _last_backward(trace: Trace, clip: Step) -> Step | None:
    """The backward whose gradients are clipped."""
    found = None
    for step in trace.steps:
        if step is clip:
            break
        if step.act in training.BACKWARD and step.loops == clip.loops and not training.excludes(step, clip):
            found = step if found is None or not training.excludes(found, step) or _scaler_of(trace, step) else found
    return found


def _scaler_of(trace: Trace, backward: Step) -> Value | None:
    """The GradScaler that a loss went through, unless it is switched off."""
    loss = backward.receiver
    scaler = next((one.receiver for one in trace.of("scale") if one.site.result is loss), None)
    if scaler is None or (scaler.kind != "scaler" and not scaler.op.endswith(("scaler", "Scaler"))):
        return None
    enabled = scaler.option("enabled")
    return None if enabled is not None and enabled.const is False else scaler


def _is_undone(trace: Trace, scaled: Step, clip: Step) -> bool:
    between = trace.steps[trace.steps.index(scaled) : trace.steps.index(clip)]
    return any(step.act in ("unscale_", "unknown", "grad") for step in between)


def _knows_the_scale(clip: Step) -> bool:
    """Is the limit multiplied by the scale, or infinite?"""
    limit = clip.site.operand(1, "max_norm", "clip_value")
    if limit is None:
        return True
    number = limit.number()
    return number == float("inf") or any(one.op in ("call:get_scale", "call:item") for one in ancestors(limit, most=20))


def _fix(clip: Step, step: Step) -> Fix:
    title = "call scaler.unscale_(optimizer) before clipping"
    file, node = clip.site.spot.file, step.node
    starts_line = not file.lines[clip.node.lineno - 1][: clip.node.col_offset].strip()
    if step.site.spot.file is not file or step.loops != clip.loops or not node.args or not starts_line:
        return Fix(title)
    line = f"{file.source(node.func.value)}.unscale_({file.source(node.args[0])})"
    return Fix(title, (tell.insert_statement_before(file, clip.node, line),))
