"""Inputs made from what is known of the two models: random ones, and those at the edges."""

from __future__ import annotations

from collections.abc import Callable

from sleuth.compare import fit
from sleuth.compare.inputs.limits import Limit, limits_of, together
from sleuth.compare.inputs.other_sizes import other_sizes, resized
from sleuth.compare.inputs.sample import Sample
from sleuth.compare.inputs.settled import settle
from sleuth.compare.inputs.trying import keeps_its_word, problem_with
from sleuth.compare.inputs.ways import of_values
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Batch

ROWS = 8
Told = Callable[[str], None]


def generated(
    reference: Side, target: Side | None = None, *, seed: int = 0, rows: int = ROWS, told: Told | None = None
) -> list[Sample]:
    """The random one first. What the reference itself rejects, or has no number for, is left out and told."""
    screen = _Screen(reference, target, told or (lambda line: None))
    base = screen.with_rows(settle(reference, target), rows)
    limits = limits_both_allow(reference, target, base)
    names = [one.name for one in reference.inputs] or [f"input_{place}" for place in range(len(base))]
    samples = [one for one in of_values(names, base, limits, seed) if screen.takes(one)]
    if not samples or samples[0].label != "random":
        raise CannotCompare(
            f"{reference.title} gives no numbers on random inputs: say what it takes with --inputs FILE.npz"
        )
    samples += [one for one in other_sizes(reference, samples[0], names, limits) if screen.takes(one, shapes=True)]
    return samples


def limits_both_allow(reference: Side, target: Side | None, batch: Batch) -> dict[str, Limit]:
    """The target's limits by the reference's names, where it is a module too: its graph is made anyway."""
    limits = limits_of(reference, batch)
    if not isinstance(target, TorchSide):
        return limits
    try:
        others = limits_of(target, fit.to(target, reference, batch))
    except Exception:  # one that rejects the batch has no say
        return limits
    by_place = dict(zip([one.name for one in target.inputs], [one.name for one in reference.inputs], strict=False))
    renamed = {name if name in limits else by_place.get(name, name): limit for name, limit in others.items()}
    return together(limits, renamed)


class _Screen:
    """Lets through what can be compared on, and says what it held back."""

    def __init__(self, reference: Side, target: Side | None, told: Told) -> None:
        self._reference = reference
        self._target = target
        self._told = told

    def with_rows(self, batch: Batch, rows: int) -> Batch:
        """So many rows, or, where one of the two has a fixed number of them, that one."""
        if not batch or not batch[0].ndim:
            return batch
        wide = resized(batch, 0, batch[0].shape[0], rows)
        return wide if self._fits(wide) and problem_with(self._reference, wide) is None else batch

    def takes(self, sample: Sample, shapes: bool = False) -> bool:
        if shapes and not (keeps_its_word(self._reference, sample.batch) and self._fits(sample.batch)):
            return False  # by its own word one of them takes no other size
        problem = problem_with(self._reference, sample.batch)
        if problem is not None:
            self._told(f"{sample.label}: left out, {self._reference.title} itself {problem}")
            return False
        problem = self._targets_problem(sample) if shapes else None
        if problem is not None and self._target is not None:
            self._told(f"{sample.label}: left out, {self._target.title} {problem}")
        return problem is None

    def _fits(self, batch: Batch) -> bool:
        try:
            return self._target is None or bool(fit.to(self._target, self._reference, batch))
        except CannotCompare:
            return False

    def _targets_problem(self, sample: Sample) -> str | None:
        if self._target is None:
            return None
        problem = problem_with(self._target, fit.to(self._target, self._reference, sample.batch))
        # Numbers that are not finite are for the comparison to find.
        return problem if problem is not None and problem.startswith("rejects") else None
