"""One comparison from end to end: the models opened, the inputs made, the two compared, and the answer told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from sleuth.compare import inputs as given_or_made
from sleuth.compare.deployments import Row, deploy
from sleuth.compare.inputs import Sample
from sleuth.compare.inputs.generated import limits_both_allow
from sleuth.compare.inputs.given import MOST_BATCHES
from sleuth.compare.opening import open_side
from sleuth.compare.session import Session, compare_sides, disagreement
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.tell import findings
from sleuth.compare.tell_deployments import findings_of_rows
from sleuth.compare.tell_training import findings_of_training
from sleuth.compare.training import Training, compare_training
from sleuth.compare.trapping_amx import spared
from sleuth.compare.values import Batch
from sleuth.findings import Finding

ROUNDS = 16
_NO_PROGRESS: Callable[[int, int], None] = lambda done, total: None  # noqa: E731
_SILENT: Callable[[str], None] = lambda line: None  # noqa: E731


@dataclass(slots=True)
class Verdict:
    """`session` for two models, `rows` for one and its deployments; `notes` are what was left out, and why."""

    title: str
    findings: tuple[Finding, ...] = ()
    session: Session | None = None
    training: Training | None = None
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        looked_at = [one.same for one in (self.session, self.training) if one is not None]
        return all(looked_at) and not any(row.verdict == "differs" for row in self.rows)


@dataclass(frozen=True, slots=True)
class Wishes:
    """How it is to be done. `rounds` of search are made where the inputs were not given."""

    inputs: Any = None
    seed: int = 0
    rounds: int = ROUNDS
    trust: bool = False
    backend: str | None = None
    train: bool = False
    progress: Callable[[int, int], None] = _NO_PROGRESS
    told: Callable[[str], None] = _SILENT


@spared()
def compare_two(first: Any, second: Any, wishes: Wishes | None = None) -> Verdict:
    """Whether the second computes what the first does."""
    wishes = _settled(wishes or Wishes())
    with closing(_opened(first, wishes)) as one, closing(_opened(second, wishes)) as other:
        notes: list[str] = []
        reference, target = _believed(one, other, wishes)
        samples = _samples(reference, target, wishes, notes.append)
        session = compare_sides(reference, target, samples, wishes.progress)
        session.swapped = reference is other
        if session.swapped:
            notes.append(f"{one.title} cannot be run in float64: {other.title} is taken for the truth")
        notes += [f"{tried.sample.label}: {tried.why}" for tried in session.tried if tried.why]
        found = findings(session.comparison)
        training = compare_training(reference, target, samples[0].batch) if wishes.train else None
        if training is not None and session.same:
            found += findings_of_training(reference, target, training)
        return Verdict(f"{one.title} and {other.title}", tuple(found), session, training, notes=notes)


@spared()
def compare_deployments(model: Any, names: Iterable[str], wishes: Wishes | None = None) -> Verdict:
    """One model and the forms in which it may be deployed."""
    wishes = _settled(wishes or Wishes())
    with closing(_opened(model, wishes)) as side:
        notes: list[str] = []
        [sample, *_] = _samples(side, None, Wishes(wishes.inputs, wishes.seed, 0, wishes.trust), notes.append)
        rows = deploy(side, names, sample.batch, wishes.told)
        if rows and all(row.verdict == "not made" for row in rows):
            raise CannotCompare(rows[0].reason)
        found = tuple(findings_of_rows(side, rows))
        return Verdict(side.title, found, rows=rows, notes=notes)


def _settled(wishes: Wishes) -> Wishes:
    """What can be gone through only once is looked at several times."""
    if isinstance(wishes.inputs, Iterator):
        return replace(wishes, inputs=list(islice(wishes.inputs, MOST_BATCHES)))
    return wishes


def _opened(model: Any, wishes: Wishes) -> Side:
    return open_side(model, trust=wishes.trust, inputs=wishes.inputs, backend=wishes.backend)


def _believed(one: Side, other: Side, wishes: Wishes) -> tuple[Side, Side]:
    """The first is the reference, unless only the second can be run in float64."""
    for reference, target in ((one, other), (other, one)):
        if reference.reference(_example(reference, target, wishes)) is not None:
            return reference, target
    raise CannotCompare(
        f"neither {one.title} nor {other.title} can be run in float64: "
        "one of them has to be a PyTorch, ONNX or Keras model"
    )


def _example(reference: Side, target: Side, wishes: Wishes) -> Batch:
    if wishes.inputs is None:
        return given_or_made.settle(reference, target)
    return given_or_made.given(wishes.inputs, reference, trust=wishes.trust, most=1)[0].batch


def _samples(reference: Side, target: Side | None, wishes: Wishes, told: Callable[[str], None]) -> Sequence[Sample]:
    if wishes.inputs is not None:
        return given_or_made.given(wishes.inputs, reference, trust=wishes.trust)
    samples = given_or_made.generated(reference, target, seed=wishes.seed, told=told)
    if target is None or not wishes.rounds:
        return samples
    limits = limits_both_allow(reference, target, samples[0].batch)
    worst = given_or_made.search(
        disagreement(reference, target), samples[0], reference.inputs, limits, seed=wishes.seed, rounds=wishes.rounds
    )
    return [*samples, worst] if worst is not samples[0] else samples
