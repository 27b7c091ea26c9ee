"""From what a replay saw to the finding that tells it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Literal

import torch
from torch import Tensor

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.live import leaves, numbers, origin, story
from sleuth.live.batches import Dealer
from sleuth.live.births import Rewrite, Verdict, operation_name
from sleuth.live.graph import Suspect
from sleuth.live.history import History
from sleuth.live.mending.proposals import Proposal, proposals
from sleuth.live.naming import module_entry, variable_name
from sleuth.live.origin import Origin
from sleuth.live.replay import Replay, Trouble
from sleuth.live.trace import Op
from sleuth.program import place_of

Line = tuple[CodeType, int]


@dataclass(frozen=True, slots=True)
class Symptom:
    """What was seen to be non-finite in the replayed step: the losses, or the gradients of these parameters."""

    seen_in: Literal["loss", "gradient"]
    bad: list[Tensor]
    backward: Place | None

    @property
    def tensors(self) -> list[Tensor]:
        return self.bad if self.seen_in == "loss" else [p.grad for p in self.bad if p.grad is not None]

    def link(self) -> Link:
        if self.seen_in == "loss" and self.bad[0].numel() > 1:
            return Link("the loss function refuses what is not finite", self.backward)
        if self.seen_in == "loss":
            return Link(f"the loss became {float(self.bad[0].detach()):g}", self.backward)
        names = [name for parameter in self.bad[:3] if (name := name_of(parameter)) is not None]
        shown = ", ".join(names) or "the weights"
        more = f" and {len(self.bad) - len(names)} more" if len(self.bad) > len(names) > 0 else ""
        return Link(f"backward gave non-finite gradients for {shown}{more}", self.backward)


def name_of(parameter: Tensor) -> str | None:
    entry = module_entry(parameter)
    return entry.name if entry is not None else variable_name(parameter)


@dataclass(frozen=True, slots=True)
class Told:
    """A finding, and the operation of the forward pass that its check knows to rewrite."""

    finding: Finding
    op: Op | None = None
    rewrites: tuple[Rewrite, ...] = ()

    def proposals(self) -> list[Proposal]:
        return proposals(self.op, self.rewrites) if self.op is not None else []


def finding(replay: Replay, symptom: Symptom, history: History, dealer: Dealer) -> Finding:
    return told(replay, symptom, history, dealer).finding


def told(replay: Replay, symptom: Symptom, history: History, dealer: Dealer, several: bool = False) -> Told:
    """What the replay saw. Gradients that `several` ranks share may come from another one."""
    shared = several and symptom.seen_in == "gradient"
    source = origin.find_own(replay.trace) if shared else origin.find(replay.trace, symptom.tensors)
    if source is None and shared:
        return Told(not_seen_again(replay, "it came with the gradients of another rank", history))
    if source is None:
        return Told(not_seen_again(replay, "the operation that gave it ran outside the traced step", history))
    if source.leaf is not None and source.leaf.tensor is not None:
        return Told(_of_leaf(source, replay, symptom, history, dealer))
    verdict = _verdict(source)
    place = source.op.place
    found = handbook.finding(
        verdict.diagnosis,
        title=verdict.title,
        root_cause=verdict.root_cause,
        place=place,
        step=replay.trouble.step,
        evidence=(
            *_evidence(source, verdict),
            *(leaves.culprit(source.op, dealer) if replay.trouble.window == 1 else ()),
            *verdict.evidence,
            *story.history_evidence(history),
        ),
        chain=story.chain(source, verdict, history, symptom.link()),
        fixes=verdict.fixes,
    )
    # A loss that is not finite is so at every scale; only gradients can be a matter of the scale.
    collapsed = replay.trouble.symptom == "scale" and symptom.seen_in == "gradient"
    found = _collapsed(found, replay.trouble) if collapsed else found
    return Told(found, story.watched(source.op), verdict.rewrites)


def _verdict(source: Origin) -> Verdict:
    """What the checks said at the birth. Where an infinity turned to NaN within the derivative of one and the same
    operation, or in that of the one that gave it, the two are one event, and what was said of the NaN counts."""
    nan = source.became_nan
    same_event = nan is not None and nan.forward is not None and nan.forward in (source.op.forward, source.op)
    told = nan.notes.get("verdict") if nan is not None and same_event else None
    return told or source.op.notes.get("verdict") or _without_a_rule(source)


def _of_leaf(source: Origin, replay: Replay, symptom: Symptom, history: History, dealer: Dealer) -> Finding:
    leaf = leaves.verdict(source, replay.trace, dealer)
    operation = (
        () if any(e.name == "operation" for e in leaf.evidence) else (Evidence("operation", operation_name(source.op)),)
    )
    return handbook.finding(
        leaf.diagnosis,
        title=leaf.title,
        root_cause=leaf.root_cause,
        place=leaf.place,
        step=replay.trouble.step,
        evidence=(*operation, *leaf.evidence, *story.history_evidence(history)),
        chain=(
            leaf.story,
            Link(f"{operation_name(source.op)} read it", source.op.place),
            *story.chain(source, None, history, symptom.link()),
        ),
        fixes=leaf.fixes,
    )


def _evidence(source: Origin, verdict: Verdict) -> Iterable[Evidence]:
    op = source.op
    yield Evidence("operation", operation_name(op))
    if op.in_backward:
        yield Evidence("pass", "backward")
    operand = story.culprit_operand(source, verdict)
    if operand is not None and not math.isnan(operand.numbers.low):
        yield Evidence("input minimum", operand.numbers.low)
        yield Evidence("input maximum", operand.numbers.high)
        yield Evidence("input type", str(operand.dtype).removeprefix("torch."))
        yield Evidence("input shape", operand.shape)
    yield Evidence("result", story.became(op))


def _without_a_rule(source: Origin) -> Verdict:
    """No check knows this operation, or its inputs were all in range."""
    op = source.op
    return Verdict(
        diagnosis="unexplained-non-finite",
        title=f"{operation_name(op)} gave {'NaN' if op.output.nan else 'inf'} from finite inputs",
        fixes=(
            Fix(
                "run the same operation on the CPU in float64: if it is finite there, suspect the library or the device"
            ),
            Fix("if the operation is your own (a custom autograd.Function or kernel), test it on these inputs"),
        ),
    )


def _collapsed(found: Finding, trouble: Trouble) -> Finding:
    """The scaler's view of the same story: what made the gradients non-finite whatever the scale."""
    about = handbook.page("grad-scaler-collapse")
    return handbook.finding(
        about.name,
        place=found.place,
        step=found.step,
        root_cause=found.root_cause,
        evidence=(Evidence("scale", trouble.value), Evidence("underlying diagnosis", found.diagnosis), *found.evidence),
        chain=(*found.chain, Link(f"the GradScaler skips every step; its scale has fallen to {trouble.value:g}")),
        fixes=found.fixes,
    )


def not_seen_again(replay: Replay, why: str, history: History) -> Finding:
    """What is known where the trouble could not be watched happening."""
    trouble = replay.trouble
    if replay.suspect is not None:
        return _by_the_graph(replay, replay.suspect, why, history)
    compiled = replay.ran_eagerly
    what = {"loss": "the loss", "gradient": "a gradient", "scale": "every scaled gradient"}[trouble.symptom]
    fixes = [
        Fix("run with torch.use_deterministic_algorithms(True) and a fixed seed, so that the step can be repeated")
    ]
    if compiled:
        fixes.insert(0, Fix("try without torch.compile: the step was repeated without it and stayed finite"))
    return handbook.finding(
        "non-finite-loss",
        title=f"{what} became {'NaN' if math.isnan(trouble.value) else 'inf'}, but not when the step was repeated",
        place=trouble.place,
        step=trouble.step,
        evidence=(
            Evidence("value", trouble.value),
            Evidence("repeated by", replay.way),
            Evidence("compiled", compiled),
            *story.history_evidence(history),
        ),
        chain=(Link(f"{what} was {trouble.value:g}", trouble.place), Link(why)),
        fixes=fixes,
    )


def _by_the_graph(replay: Replay, suspect: Suspect, why: str, history: History) -> Finding:
    """The operation comes from the graph of the failed loss, its line from another round of the same loop."""
    trouble = replay.trouble
    verdict = suspect.op.notes["verdict"] if suspect.op is not None else None
    seen = replay.suspects_line
    place = seen.place if seen is not None else trouble.place
    name = operation_name(seen) if seen is not None else suspect.node.split("Backward")[0].lower()
    operands = suspect.op.operands if suspect.op is not None else []
    ranges = [
        Evidence(f"input {what}", value)
        for operand in operands[:1]
        for what, value in (("minimum", operand.numbers.low), ("maximum", operand.numbers.high))
    ]
    return handbook.finding(
        (verdict.diagnosis if verdict else suspect.diagnosis) or "unexplained-non-finite",
        title=verdict.title if verdict else None,
        place=place,
        step=trouble.step,
        evidence=(
            Evidence("operation", name),
            *ranges,
            Evidence("known from", "the autograd graph of the failed loss"),
            *(verdict.evidence if verdict else ()),
            *story.history_evidence(history),
        ),
        chain=(
            Link(f"{name} gave {'NaN' if suspect.result.nan else 'inf'}", place),
            Link(f"the loss became {trouble.value:g}", trouble.place),
            Link(why),
        ),
        fixes=verdict.fixes if verdict else (),
    )


def spoilt_weights(
    parameters: list[Tensor], trouble: Trouble, history: History, step_line: Line | None, optimizers: Iterable[Any]
) -> Finding | None:
    """The verdict where the last update itself made a weight non-finite: its loss and gradients were finite still."""
    before = trouble.step - 1
    was_finite = any(step == before for step, _ in history.gradient_norms)
    if before < 0 or not was_finite or step_line is None:
        return None
    bad = [parameter for parameter in parameters if not numbers.is_finite(parameter)]
    if not bad:
        return None
    name = name_of(bad[0]) or "a weight"
    held = numbers.look(bad[0])
    group, state = _group_and_state(bad[0], optimizers)
    reason, fixes = _why_the_update(bad[0], group, state)
    place = place_of(*step_line)
    settings = [
        Evidence(key, float(group[key]))
        for key in ("lr", "eps", "weight_decay", "momentum")
        if isinstance(group.get(key), int | float)
    ]
    return handbook.finding(
        "update-not-finite",
        place=place,
        step=before,
        evidence=(
            Evidence("operation", "step"),
            Evidence("weight", name),
            Evidence("step it turned", before),
            Evidence("non-finite values", held.bad),
            *settings,
            *story.history_evidence(history),
        ),
        chain=(
            Link(f"the gradients of step {before} were finite: norm {numbers.said(history.gradient_norms[-1][1])}"),
            Link(reason, place),
            Link(
                f"{name} became {'NaN' if held.nan else 'inf'} in {held.bad:,} of {held.count:,} values",
                place,
            ),
            Link(
                f"the loss of step {trouble.step} became {trouble.value:g}"
                if trouble.symptom == "loss"
                else f"the gradients of step {trouble.step} are not finite"
            ),
        ),
        fixes=fixes,
    )


def _group_and_state(parameter: Tensor, optimizers: Iterable[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            if any(p is parameter for p in group["params"]):
                return group, optimizer.state.get(parameter, {})
    return {}, {}


def _why_the_update(parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> tuple[str, tuple[Fix, ...]]:
    squares = state.get("exp_avg_sq", state.get("square_avg", state.get("sum")))
    broken = ~torch.isfinite(parameter.detach())
    if group.get("eps") == 0 and isinstance(squares, Tensor) and bool((squares[broken] == 0).any()):
        return (
            "with eps = 0 the optimiser divided by the root of a squared-gradient average that is exactly 0",
            (Fix("give the optimiser its epsilon back: eps=1e-8 (1e-7 or more for half precision)"),),
        )
    rate = group.get("lr")
    return (
        f"the update with lr = {float(rate):g} left the range of {parameter.dtype}"
        if rate is not None
        else "the update overflowed",
        (Fix("lower the learning rate"), Fix("clip the gradients with torch.nn.utils.clip_grad_norm_")),
    )
