"""Training compared: the gradients, and all weights and statistics after one step, on the same batch and loss.

The loss needs no labels and no layout: the mean of y²/2 + y³/6 over every output. Dropout is switched off on both
sides, as chance cannot be compared; the step is one of plain gradient descent, so that it adds nothing of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sleuth.compare import fit
from sleuth.compare.comparison import in_layout
from sleuth.compare.reference import Reference
from sleuth.compare.scores import Noise, Score, score
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torch_training import trained_step
from sleuth.compare.values import Array, Batch, Trained, is_real
from sleuth.compare.weights.matching import Match, match

RATE = 0.1
# Backwards, correct implementations were seen to differ by up to 10 times the noise: batch norm on JAX.
LIMIT_BACKWARDS = 50.0
# PyTorch averages the unbiased variance, others the biased one: a statistic that moves by nearly the right share.
_NEARLY_RIGHT = 0.02


@dataclass(frozen=True, slots=True)
class Weight:
    """One array of the reference and its partner in the target, before, at and after the step."""

    name: str
    target: str
    gradient: Score | None
    after: Score
    share: float | None = None
    # Trained on one side only.
    frozen: bool = False

    @property
    def has_another_gradient(self) -> bool:
        return self.frozen or (self.gradient is not None and not self.gradient.score <= LIMIT_BACKWARDS)

    @property
    def moved_otherwise(self) -> bool:
        """A running statistic, which has no gradient, that is not where it should be after the step."""
        nearly = self.share is not None and abs(self.share - 1) <= _NEARLY_RIGHT
        return self.gradient is None and not self.frozen and not self.after.score <= LIMIT_BACKWARDS and not nearly


@dataclass(slots=True)
class Training:
    """`weights` in the order of the network; `unpaired` are those without a partner that holds the same numbers."""

    outputs: list[Score] = field(default_factory=list)
    weights: list[Weight] = field(default_factory=list)
    unpaired: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        wrong = any(one.has_another_gradient or one.moved_otherwise for one in self.weights)
        return not wrong and not any(one.parted for one in self.outputs)

    def last_with_another_gradient(self) -> Weight | None:
        """Gradients are made from the end to the start: the last weight that parts is the first to be wrong."""
        return next((one for one in reversed(self.weights) if one.has_another_gradient), None)


def compare_training(reference: Side, target: Side, batch: Batch) -> Training:
    if not isinstance(reference, TorchSide):
        raise CannotCompare(f"training is compared with a PyTorch module; {reference.title} is none")
    given = fit.to(target, reference, batch)
    answered = target.trained(given, RATE)
    if answered is None:
        raise CannotCompare(f"{target.title} cannot be trained in {target.runtime}")
    truth, single = trained_step(reference, batch, RATE, "float64"), trained_step(reference, batch, RATE, "float32")
    before, targets_before = reference.weights(), target.weights()
    done = Training(
        [
            score(wide, Noise.of(wide, narrow), in_layout(array, wide))
            for wide, narrow, array in zip(truth.outputs, single.outputs, answered.outputs, strict=False)
        ]
    )
    pairs = {one.sources[0]: one for one in match(before, targets_before).matches if one.how in ("same", "rounded")}
    order = _in_order(reference.reference(batch), before)
    for name in order:
        if name in pairs:
            done.weights.append(_weight(name, pairs[name], before, truth, single, answered))
        elif is_real(before[name]):
            done.unpaired.append(name)
    return done


def _weight(
    name: str, pair: Match, before: Mapping[str, Array], truth: Trained, single: Trained, answered: Trained
) -> Weight:
    lay_out = pair.change
    gradient = None
    if name in truth.gradients and pair.name in answered.gradients:
        wide, narrow = lay_out(truth.gradients[name]), lay_out(single.gradients[name])
        gradient = score(wide, Noise.of(wide, narrow, _size(wide, truth)), answered.gradients[pair.name])
    wide, narrow = lay_out(truth.after[name]), lay_out(single.after[name])
    after = score(wide, Noise.of(wide, narrow), answered.after[pair.name])
    old = lay_out(before[name])
    share = _share(old, wide, answered.after[pair.name]) if gradient is None and after.parted else None
    frozen = (name in truth.gradients) != (pair.name in answered.gradients)
    return Weight(name, pair.name, gradient, after, share, frozen)


def _size(gradient: Array, truth: Trained) -> float:
    """A gradient that is all rounding, as of a bias in front of a batch norm, is measured by the others' size."""
    sizes = [float(np.sqrt(np.mean(np.square(one)))) for one in truth.gradients.values() if one.size]
    own = float(np.sqrt(np.mean(np.square(gradient)))) if gradient.size else 0.0
    usual = float(np.median(sizes)) if sizes else 0.0
    return own if own > 1e-6 * usual else usual or 1.0


def _share(old: Array, truth: Array, found: Array) -> float | None:
    """Of a running statistic that moved in the right direction: how far, in units of the right way."""
    right, wrong = np.asarray(truth - old, np.float64).ravel(), np.asarray(found - old, np.float64).ravel()
    if not right.size or not np.linalg.norm(right):
        return None
    share = float(right @ wrong / (right @ right))
    left = float(np.linalg.norm(wrong - share * right) / np.linalg.norm(right))
    return share if left < _NEARLY_RIGHT * abs(share) else None


def _in_order(graph: Reference, weights: Mapping[str, Array]) -> list[str]:
    """As the network uses them, the first layer first."""
    used: dict[str, int] = {}
    for node in graph.graph.graph.nodes:
        if node.op == "get_attr":
            first = min((graph.order[user.name] for user in node.users), default=10**9)
            used.setdefault(str(node.target), first)
    return sorted(weights, key=lambda name: used.get(name, 10**9))
