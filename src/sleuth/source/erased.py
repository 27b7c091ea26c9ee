"""Gradients that zero_grad erases before a step could use them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sleuth.source import training
from sleuth.source.scopes import File
from sleuth.source.sites import Step, Trace

# Calls that surely hide no backward pass.
_HARMLESS: Final = frozenset(
    "print format join info debug append extend len float int str item tolist mean sum max min abs norm detach cpu "
    "numpy parameters unscale_ update step zero_grad set_postfix set_description write add_scalar time perf_counter "
    "log range "
    "clip_grad_norm_ clip_grad_value_ clip_grad_norm get_last_lr no_grad enumerate argmax eq round".split()
)


@dataclass(frozen=True, slots=True)
class Erased:
    """A zero_grad and the step after it with no backward between them, though the loop has one elsewhere."""

    zero: Step
    step: Step
    backward: Step
    backward_comes_first: bool  # backward, zero_grad, step; otherwise the step stands above the backward


def before_step(trace: Trace) -> Iterator[Erased]:
    """Each such pair, in the order of the program."""
    for zero in trace.of("zero_grad"):
        if not zero.loops or zero.receiver is None:
            continue
        around = trace.within(zero.loops[-1])
        if any(other.act in ("unknown", "grad") for other in around):
            continue
        step = next((one for one in _in_turn(around, zero) if _ends_the_wait(one, zero)), None)
        if step is None or not _moves_what_was_cleared(step, zero) or _may_hide_backward(trace, zero, step):
            continue
        before = around[: min(around.index(zero), around.index(step))]
        backward = next((one for one in around if one.act in training.BACKWARD), None)
        if backward is not None:
            yield Erased(zero, step, backward, backward in before)


def _in_turn(around: list[Step], start: Step) -> list[Step]:
    """What happens after a step in its loop: to the end of the round, then from the top of the next one."""
    here = around.index(start)
    return around[here + 1 :] + around[:here]


def _ends_the_wait(step: Step, zero: Step) -> bool:
    return step.act in training.BACKWARD or (step.act == "step" and _moves_what_was_cleared(step, zero))


def _moves_what_was_cleared(step: Step, zero: Step) -> bool:
    if step.act != "step" or step.loops != zero.loops or step.site.spot.branch != zero.site.spot.branch:
        return False
    if step.site.spot.file is not zero.site.spot.file or step.site.spot.function is not zero.site.spot.function:
        return False
    receiver, cleared = step.receiver, zero.receiver
    if receiver is None or cleared is None:
        return False
    optimizer = training.optimizer_of(step)
    if optimizer is None:
        return (
            receiver.kind == "?"
            and not step.site.args
            and not step.site.keywords
            and training.is_same(receiver, cleared)
        )
    return training.is_same(optimizer, cleared) or training.is_same(training.network_of(optimizer), cleared)


def _may_hide_backward(trace: Trace, zero: Step, step: Step) -> bool:
    """Is something called between the two that we cannot see into?"""
    first, last, loop = zero.node.lineno, step.node.lineno, zero.loops[-1]
    seen = {id(one.node) for one in trace.of("forward", "call")}
    for node in ast.walk(loop):
        if isinstance(node, ast.Call) and id(node) not in seen:
            between = first < node.lineno < last if first <= last else not last <= node.lineno <= first
            if between and not _is_harmless(node.func, zero.site.spot.file):
                return True
    return False


def _is_harmless(func: ast.expr, file: File) -> bool:
    if isinstance(func, ast.Attribute) and func.attr in _HARMLESS:
        return True
    while isinstance(func, ast.Attribute):
        func = func.value
    if not isinstance(func, ast.Name):
        return False
    known = file.globals.get(func.id)
    return func.id in _HARMLESS or (known is not None and (known.kind == "api" or known.api.startswith("torch.nn.")))
