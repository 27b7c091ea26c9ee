"""Name the cause: compute the suspect region again, in float64, under each hypothesis, and believe what fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from sleuth.compare.causes import Proposal, Target, proposals, proposals_behind
from sleuth.compare.reference import Call, Override, Reference, as_array
from sleuth.compare.scores import EPS, LIMIT, Noise, score
from sleuth.compare.shaken import Rounding

# A cause is told from another, and from none at all, by this factor between what they leave unexplained.
_CLEARLY = 3.0
# What a right explanation may leave: no clean comparison was worse than this.
_CLEAN = 2.4

# What leaves no more than this part of a difference may be right, and more sensitive to rounding than the reference.
_NEARLY_ALL = 1e-3


@dataclass(frozen=True, slots=True)
class Explanation:
    """`residual` is what it leaves unexplained, in units of the noise; `rivals` other causes that fit as well."""

    diagnosis: str
    proposal: Proposal
    node: str
    residual: float
    rivals: tuple[tuple[str, Proposal], ...] = ()


def explain(
    reference: Reference,
    region: Sequence[str],
    known: Mapping[str, Any],
    node: str,
    target: Target,
    noise: Noise,
    standing: Mapping[str, Override],
) -> Explanation | None:
    """The cause that brings the reference's value at `node` to the target's, if one does and no other does as well."""
    standing = {name: override for name, override in standing.items() if name not in known}
    unexplained = _residual(reference, known, node, standing, target, noise)
    fitting: list[Explanation] = []
    for place in region:

        def judge(override: Override, place: str = place) -> float:
            return _residual(reference, known, node, {**standing, place: override}, target, noise)

        for diagnosis, proposal in _proposed(reference, known, place, replace(target, judge=judge), standing):
            residual = judge(proposal.apply)
            if LIMIT < residual <= _NEARLY_ALL * unexplained:
                residual *= _share_of_rounding(reference, known, node, {**standing, place: proposal.apply}, noise)
            if residual <= min(LIMIT, unexplained / _CLEARLY):
                fitting.append(Explanation(diagnosis, proposal, place, residual))
    if not fitting:
        limit = min(LIMIT, unexplained / _CLEARLY)
        fitting = [one for one in _behind(reference, known, node, standing, target, noise) if one.residual <= limit]
    return _best(fitting)


def _share_of_rounding(
    reference: Reference, known: Mapping[str, Any], node: str, overrides: Mapping[str, Override], noise: Noise
) -> float:
    """The reference's noise by that which rounding the known values makes where it is computed in this other way."""
    values = [as_array(reference.replay(one, node, overrides)) for one in (known, _rounded(known))]
    return noise.rms / noise.with_error(*values).rms


def _rounded(known: Mapping[str, Any]) -> dict[str, Any]:
    """As float32 keeps them, where that is not exact already."""
    rounding = Rounding(EPS, seed=0)
    return {name: rounding.moved(one) for name, one in known.items()}


def _behind(
    reference: Reference,
    known: Mapping[str, Any],
    node: str,
    standing: Mapping[str, Override],
    target: Target,
    noise: Noise,
) -> Iterator[Explanation]:
    """Something put between a value that is right and all that use it."""
    for place, value in known.items():
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.numel() < 2:
            continue
        shown = Call(place, "input", None, {"value": value})
        for diagnosis, proposal in proposals_behind(value):
            changed = {**known, place: proposal.apply(shown)}
            residual = _residual(reference, changed, node, standing, target, noise)
            yield Explanation(diagnosis, proposal, place, residual)


def _best(fitting: list[Explanation]) -> Explanation | None:
    """Of those that fit about as well, the most specific; its rivals are as specific and fit as well."""
    if not fitting:
        return None
    enough = max(_CLEARLY * min(one.residual for one in fitting), _CLEAN)
    good = sorted((one for one in fitting if one.residual <= enough), key=lambda one: (one.proposal.rank, one.residual))
    best = good[0]
    rivals = {
        (one.diagnosis, one.proposal.says): (one.diagnosis, one.proposal)
        for one in good[1:]
        if one.proposal.rank == best.proposal.rank
        and one.residual < _CLEARLY * best.residual
        and (one.diagnosis, one.proposal.says) != (best.diagnosis, best.proposal.says)
    }
    return Explanation(best.diagnosis, best.proposal, best.node, best.residual, tuple(rivals.values()))


def _proposed(
    reference: Reference, known: Mapping[str, Any], place: str, target: Target, standing: Mapping[str, Override]
) -> Iterator[tuple[str, Proposal]]:
    """What the causes propose for the operation at this place, shown to them as it is about to be computed."""
    heard: list[tuple[str, Proposal]] = []

    def listen(call: Any) -> Any:
        heard.extend(proposals(call, target))
        return call.again()

    if place in standing:
        return iter(())
    reference.replay(known, place, {**standing, place: listen})
    return iter(heard)


def _residual(
    reference: Reference,
    known: Mapping[str, Any],
    node: str,
    overrides: Mapping[str, Override],
    target: Target,
    noise: Noise,
) -> float:
    try:
        value = reference.replay(known, node, overrides, torch.float64)
        array = as_array(value)
    except (RuntimeError, IndexError, ValueError, TypeError):  # a proposal that does not fit these shapes
        return float("inf")
    if array.shape != target.value.shape:
        return float("inf")
    return score(array, noise, target.value).score
