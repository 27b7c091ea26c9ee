"""What a comparison of training found, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth import handbook
from sleuth.compare.side import Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.training import Training, Weight
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.layer_source import place_of_layer

_MOST_NAMES = 6


def findings_of_training(reference: Side, target: Side, done: Training) -> Iterator[Finding]:
    first = done.last_with_another_gradient()
    if first is not None or any(one.parted for one in done.outputs):
        yield _gradients(reference, target, done, first)
    moved = [one for one in done.weights if one.moved_otherwise]
    if moved and first is None:
        yield _statistics(reference, target, moved)


def _gradients(reference: Side, target: Side, done: Training, first: Weight | None) -> Finding:
    forward = next((one for one in done.outputs if one.parted), None)
    if forward is not None or first is None:
        title = f"{target.title} answers otherwise than {reference.title} in training mode"
        chain = [Link("in training mode the outputs differ already, before any gradient is made")]
    else:
        title = f"{target.title} has other gradients than {reference.title}, from {_layer(first.name)} backwards"
        chain = [Link("the outputs agree, in training mode too"), *_clean_behind(done, first)]
        wrong = [one.name for one in done.weights if one.has_another_gradient]
        chain.append(Link(f"gradients that differ: {_listed(list(reversed(wrong)))}"))
        frozen = [one.name for one in done.weights if one.frozen]
        if frozen:
            chain.append(Link(f"trained on one side only: {_listed(frozen)}"))
    worst = forward or (first and first.gradient)
    evidence = [Evidence("times the noise", float(f"{worst.score:.3g}"))] if worst else []
    return handbook.finding(
        "gradients-part",
        title=title,
        place=_place(target, first.target if first else "") or _place(reference, first.name if first else ""),
        evidence=evidence,
        chain=chain,
        fixes=[Fix("look for what only training sees: detach, no_grad, a frozen weight, a layer in another mode")],
    )


def _clean_behind(done: Training, first: Weight) -> Iterator[Link]:
    behind = done.weights[done.weights.index(first) + 1 :]
    clean = [one.name for one in behind if one.gradient is not None and _layer(one.name) != _layer(first.name)]
    if clean:
        yield Link(f"the gradients of all that comes behind it agree: {_listed(clean)}")


def _statistics(reference: Side, target: Side, moved: list[Weight]) -> Finding:
    first = moved[0]
    evidence = []
    says = f"{_layer(first.name)} of {target.title} has other running statistics after a step"
    if first.share is not None:
        says += f": they moved {first.share:.3g} times as far"
        evidence.append(Evidence("share of the right move", float(f"{first.share:.4g}")))
    return handbook.finding(
        "running-statistics-differ",
        title=says,
        place=_place(target, first.target) or _place(reference, first.name),
        evidence=[*evidence, Evidence("times the noise", float(f"{first.after.score:.3g}"))],
        chain=[
            Link("outputs in training mode and all gradients agree"),
            Link(f"other after the step: {_listed([one.name for one in moved])}"),
        ],
        fixes=[Fix("give the layer the momentum of the reference; Keras and TensorFlow count it the other way round")],
    )


def _place(side: Side, name: str) -> Place | None:
    return place_of_layer(side.model, name) if isinstance(side, TorchSide) and name else None


def _layer(name: str) -> str:
    return name.rpartition(".")[0] or name


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
