"""A loss that was rebuilt or detached, or a layer whose results all are: no gradient reaches what is to be trained."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import holdings, tell
from sleuth.source.sites import Site, Trace
from sleuth.source.values import Value, ancestors
from sleuth.source.weights import holds_weights

CALLS = ("tensor.backward", "?.backward")
_REDUCTIONS: Final = ("sum", "mean", "neg", "requires_grad_", "to", "cuda", "float", "squeeze", "call:requires_grad_")
_REBUILT: Final = ("tensor", "as_tensor", "api:torch.Tensor", "api:torch.FloatTensor")
_CUTS: Final = ("detach", "attr:data", "numpy", "item")


def call(site: Site) -> Finding | None:
    loss = site.receiver
    cut = None if loss is None else _cut(loss)
    if cut is None:
        return None
    rebuilt = cut.op in _REBUILT
    how = "built anew from numbers" if rebuilt else "detached"
    why = (
        "a new tensor knows nothing of how its numbers came about"
        if rebuilt
        else "it gives the numbers without their history"
    )
    return tell.found(
        "graph-cut",
        site,
        node=cut.node,
        file=cut.unit,
        title=f"the loss is {how}: no gradient flows back",
        chain=[
            tell.because(cut, why),
            tell.because(site.node, "backward ends there: the network gets no gradient", site.spot.file),
        ],
        fixes=[Fix("keep the loss as it was computed; torch.stack(losses) instead of torch.tensor(losses)")],
    )


def _cut(loss: Value) -> Value | None:
    """The call that gave the loss without its history."""
    for _ in range(6):
        if loss.op in _REBUILT:
            return loss if loss.inputs and _was_computed(loss.inputs[0]) else None
        if loss.op in ("detach", "attr:data"):
            return loss if loss.inputs and loss.inputs[0].grad is True else None
        divided = loss.op in ("div", "mul") and len(loss.inputs) == 2 and loss.inputs[1].kind == "number"
        if not (divided or loss.op in _REDUCTIONS) or not loss.inputs:
            return None
        loss = loss.inputs[0]
    return None


def _was_computed(value: Value) -> bool:
    """A number or list of numbers that came out of a network."""
    if value.kind == "sequence":
        return any(_was_computed(part) for part in value.parts or ())
    return any(one.grad is True and one.kind == "tensor" for one in ancestors(value, most=40))


def trace(trace: Trace) -> Iterator[Finding]:
    """A layer that an optimiser holds, and that every loss sees only through a cut."""
    backward = [step for step in trace.of("backward") if step.receiver is not None and step.receiver.kind == "tensor"]
    if not backward or len(backward) != len(trace.of("backward")) or trace.of("unknown", "minimize", "manual_backward"):
        return
    made = [step.receiver for step in trace.of("optimizer")]
    stepping = [step.receiver for step in trace.of("step") if step.receiver in made]
    held = [network for optimizer in stepping for network in holdings.of_optimizer(optimizer)]
    reached, cut_off = set(), {}
    for step in backward:
        losses: list[Value] = [step.receiver] if step.receiver is not None else []
        for one in ancestors(losses[0], stop=lambda value: value.op in _CUTS):
            reached.add(id(one))
            if one.op in _CUTS and one.inputs:
                cut_off.update(
                    {id(layer): (layer, one, step) for layer in ancestors(one.inputs[0]) if holds_weights(layer)}
                )
    for identity, (layer, cut, step) in cut_off.items():
        if (
            identity not in reached
            and any(holdings.shared(layer, network) for network in held)
            and cut.unit is not None
        ):
            yield _behind(layer, cut, step.site)
            return


def _behind(layer: Value, cut: Value, site: Site) -> Finding:
    word = cut.op.removeprefix("attr:")
    return tell.found(
        "graph-cut",
        site,
        node=cut.node,
        file=cut.unit,
        title=f"{word} cuts off layers that the optimiser is to train",
        chain=[
            tell.because(layer, "this layer is held by an optimiser"),
            tell.because(cut, f"behind {word} its result has no history"),
            tell.because(site.node, "no backward reaches the layer by another way", site.spot.file),
        ],
        fixes=[Fix(f"leave {word} out, or do not give the layer to the optimiser")],
    )
