"""Two models side by side: do they agree within the noise, and if not, where do they part first and why?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch

from sleuth.compare import fit
from sleuth.compare.align import align, arranged, arrangements
from sleuth.compare.causes import Target, proposals
from sleuth.compare.explain import Explanation, explain
from sleuth.compare.localise import Parting, back_to_the_clean, partings
from sleuth.compare.precision import in_format, least_error, output_noise
from sleuth.compare.reference import Call, Override, Reference, as_array, as_tensor
from sleuth.compare.scores import LIMIT, Noise, Score, score
from sleuth.compare.shaken import SHAKES, is_delicate, shaken
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Array, Batch, Captured, Value, in_float64, is_real

# So many causes are looked for, one behind the other.
_MOST_CAUSES = 12
# A cause that was named may leave so much of the difference it made.
_REMAINDER = 0.01


@dataclass(frozen=True, slots=True)
class Step:
    """One value along the network, on both sides."""

    node: Value
    target: Value
    score: Score
    how: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A place where the two part, and why, where that is known. `also` are other nodes with the same fault."""

    parting: Parting
    step: Step | None
    explanation: Explanation | None = None
    also: tuple[str, ...] = ()


@dataclass(slots=True)
class Comparison:
    """What is known of two models after one comparison."""

    reference: Side
    target: Side
    batch: Batch
    graph: Reference
    outputs: list[Score] = field(default_factory=list)
    truth: list[Array] = field(default_factory=list)
    answers: list[Array] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    # Where the target's runtime itself is at fault, a sentence that says so.
    own_fault: str = ""

    @property
    def same(self) -> bool:
        return not any(one.parted for one in self.outputs)


def compare_on(reference: Side, target: Side, batch: Batch, least_noise: Sequence[float] = ()) -> Comparison:
    """On one batch, in the reference's order and layout. `least_noise` of the outputs is known from other batches."""
    graph = reference.reference(batch)
    if graph is None:
        raise CannotCompare(f"{reference.title} cannot be run in float64, value by value")
    fitted = fit.to(target, reference, batch)
    truth, single = graph.trace(batch, torch.float64), in_format(graph, batch, target.precision, target.quantised)
    captured = target.capture(fitted)
    done = Comparison(reference, target, batch, graph)
    examination = _Examination(done, truth, single, captured, least_noise)
    examination.carry_out()
    if any(one.explanation is None for one in done.troubles):
        done.own_fault = target.own_fault(fitted, examination.parted)
    return done


class _Examination:
    """The work on one pair of runs: score, align, localise, explain, heal, and again."""

    def __init__(
        self, done: Comparison, truth: Captured, single: Captured, captured: Captured, least_noise: Sequence[float]
    ) -> None:
        self._done = done
        self._graph = done.graph
        self._captured = captured
        self._truth = truth
        self._healed = truth
        eps = least_error(done.target.precision)
        self._noises = _noises(self._graph, truth, single, eps)
        precision = done.target.precision
        noises = [output_noise(t, s, precision) for t, s in zip(truth.outputs, single.outputs, strict=True)]
        self._output_noises = list(map(Noise.at_least, noises, least_noise or [0.0] * len(noises)))
        self._overrides: dict[str, Override] = {}
        self._weights = done.target.weights()

    def carry_out(self) -> None:
        done = self._done
        done.truth = self._truth.outputs
        done.answers = self._answers()
        done.outputs = self._output_scores()
        if not done.same and is_delicate(self._graph, self._truth):
            self._allow_for_what_rounding_may_do()
            done.outputs = self._output_scores()
        first = view = self._view()
        done.steps = view.believable()
        for _ in range(_MOST_CAUSES):
            parted = partings(self._graph, view.scores, view.wrong)
            found = [self._trouble(parting, view) for parting in parted if not self._remains(parting, first)]
            done.troubles += found
            if not self._heal([one for one in found if one.explanation is not None], view):
                return
            view = self._view()

    def _allow_for_what_rounding_may_do(self) -> None:
        eps = least_error(self._done.target.precision)
        for seed in range(SHAKES):
            moved = shaken(self._graph, self._done.batch, eps, seed)
            for name, noise in self._noises.items():
                self._noises[name] = noise.with_error(self._truth.arrays[name], moved.arrays[name])
            three = zip(self._output_noises, self._truth.outputs, moved.outputs, strict=True)
            self._output_noises = [noise.with_error(wide, array) for noise, wide, array in three]

    def _remains(self, parting: Parting, first: _View) -> bool:
        """What a fault leaves that was taken into account, but not to the last digit, is no other fault."""
        before = first.scores.get(parting.node)
        return bool(self._overrides) and before is not None and parting.score.score < _REMAINDER * before.score

    def _view(self) -> _View:
        pairs = align(self._graph, self._healed, self._noises, self._captured)
        view = _View(self._graph)
        values = {value.name: value for value in self._captured.values}
        for pair in pairs:
            wide = self._healed.arrays[pair.node]
            array = arranged(self._captured.arrays[pair.value], pair.axes, wide.shape)
            result = score(wide, self._noises[pair.node], array)
            view.add(Step(self._graph.value(pair.node), values[pair.value], result, pair.how), array)
        for node, result, array in zip(self._graph.outputs, self._output_scores(), self._done.answers, strict=True):
            if result.parted:
                view.end(node.name, result, array)
        paired = {pair.value for pair in pairs}
        view.strays = [array for name, array in self._captured.arrays.items() if name not in paired and is_real(array)]
        return view

    def _answers(self) -> list[Array]:
        truth, given = self._truth.outputs, self._captured.outputs
        if len(given) < len(truth):
            raise CannotCompare(
                f"{self._done.target.title} has {len(given)} outputs, {self._done.reference.title} has {len(truth)}"
            )
        return [in_layout(array, wide) for array, wide in zip(given, truth, strict=False)]

    def _output_scores(self) -> list[Score]:
        return self._scores_of(self._healed)

    def _trouble(self, parting: Parting, view: _View) -> Trouble:
        known = {name: as_tensor(self._healed.arrays[name]) for name in self._border(parting.region)}
        wide = self._truth.arrays[parting.node]
        noise = self._noises.get(parting.node) or Noise.of(wide, wide)
        target = self._target(view.arrays[parting.node], view.strays)
        explanation = explain(self._graph, parting.region, known, parting.node, target, noise, self._overrides)
        return Trouble(parting, view.steps.get(parting.node), explanation)

    def _border(self, region: Sequence[str]) -> set[str]:
        """The values that the region starts from: those known to be right, and the model's inputs."""
        found = {name for name in region if self._graph.value(name).op == "input"}
        open_ends = [parent for name in region for parent in self._graph.parents(name) if parent not in region]
        while open_ends:
            name = open_ends.pop()
            if name in self._healed.arrays:
                found.add(name)
            else:  # several values at once, as an LSTM gives
                open_ends += self._graph.parents(name)
        return found

    def _target(self, array: Array, strays: Sequence[Array] = ()) -> Target:
        return Target(array, self._done.target.precision, self._weights, self._originals, strays=strays)

    @cached_property
    def _originals(self) -> Mapping[str, Array]:
        return self._graph.weights()

    def _heal(self, explained: Sequence[Trouble], view: _View) -> bool:
        """Go on as if these faults were the reference's too; a port that has one of a kind often has them all."""
        for trouble in explained:
            assert trouble.explanation is not None
            self._overrides[trouble.explanation.node] = trouble.explanation.proposal.apply
        for trouble in explained:
            alike = self._alike(trouble, view)
            if alike:
                self._overrides.update(alike)
                self._done.troubles[self._done.troubles.index(trouble)] = replace(trouble, also=tuple(alike))
        if explained:
            self._healed = self._computed(self._overrides)
        return bool(explained)

    def _alike(self, trouble: Trouble, view: _View) -> dict[str, Override]:
        """The later nodes of the same operation that, by what the target itself feeds them, have the same fault."""
        explanation = trouble.explanation
        assert explanation is not None
        op = self._graph.value(explanation.node).op
        sameness = explanation.diagnosis, explanation.proposal.says
        found: dict[str, Override] = {}
        for name in self._graph.names[self._graph.names.index(explanation.node) + 1 :]:
            if name in self._overrides or name not in view.arrays or self._graph.value(name).op != op:
                continue
            change = self._same_change(sameness, view.arrays[name])
            if self._by_itself(name, view, {}) > LIMIT >= self._by_itself(name, view, {name: change}):
                found[name] = change
        return found

    def _by_itself(self, name: str, view: _View, overrides: Mapping[str, Override]) -> float:
        """How far the target's value is from what this operation makes of the target's own values before it."""
        known = _AsTensors({**self._inputs, **{one: array for one, array in view.arrays.items() if one != name}})
        try:
            made = as_array(self._graph.replay(known, name, overrides))
        except (RuntimeError, IndexError, ValueError, TypeError):
            return float("inf")
        return score(made, self._noises[name], view.arrays[name]).score if name in self._noises else float("inf")

    def _same_change(self, sameness: tuple[str, str], array: Array) -> Override:
        def apply(call: Call) -> Any:
            for diagnosis, proposal in proposals(call, self._target(array), only=sameness[0]):
                if (diagnosis, proposal.says) == sameness:
                    return proposal.apply(call)
            return call.again()

        return apply

    @cached_property
    def _inputs(self) -> dict[str, Array]:
        return {name: self._truth.arrays[name] for name in self._graph.names if self._graph.value(name).op == "input"}

    def _computed(self, overrides: Mapping[str, Override]) -> Captured:
        return self._graph.trace(self._done.batch, torch.float64, None, overrides)

    def parted(self, outputs: list[Array]) -> bool:
        """Whether these outputs of the target would be wrong."""
        scores = map(score, self._truth.outputs, self._output_noises, map(in_layout, outputs, self._truth.outputs))
        return any(one.parted for one in scores)

    def _scores_of(self, captured: Captured) -> list[Score]:
        return [
            score(wide, noise, array)
            for wide, noise, array in zip(captured.outputs, self._output_noises, self._done.answers, strict=True)
        ]


class _AsTensors(Mapping[str, Any]):
    """Arrays that become float64 tensors when they are asked for: a replay looks at few of them."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> Any:
        array = self._arrays[name]
        return as_tensor(in_float64(array) if is_real(array) else array)

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


class _View:
    """What is paired at one moment: scores and the target's arrays by node, and the outputs that are wrong."""

    def __init__(self, graph: Reference) -> None:
        self._graph = graph
        self.steps: dict[str, Step] = {}
        self.scores: dict[str, Score] = {}
        self.arrays: dict[str, Array] = {}
        self.wrong: list[str] = []
        self.strays: list[Array] = []

    def add(self, step: Step, array: Array) -> None:
        name = step.node.name
        self.steps[name], self.scores[name], self.arrays[name] = step, step.score, array

    def end(self, name: str, result: Score, array: Array) -> None:
        self.wrong.append(name)
        self.scores[name], self.arrays[name] = result, array

    def believable(self) -> list[Step]:
        """Without what was paired by mistake: a value that is off although nothing behind it is."""
        suspects = back_to_the_clean(self._graph, self.scores, self.wrong)
        return [step for name, step in self.steps.items() if not step.score.parted or name in suspects]


def _noises(graph: Reference, truth: Captured, single: Captured, eps: float) -> dict[str, Noise]:
    """A value that is all zeros is measured by what it came from."""
    noises: dict[str, Noise] = {}
    for name, wide in truth.arrays.items():
        if is_real(wide) and wide.size:
            noise = Noise.of(wide, single.arrays[name], eps=eps)
            above = [noises[parent].scale for parent in graph.parents(name) if parent in noises]
            noises[name] = noise if wide.any() or not above else replace(noise, scale=max(above))
    return noises


def in_layout(array: Array, wide: Array) -> Array:
    """The output with its axes in the order in which it is nearest to the truth."""
    choices = [arranged(array, axes, wide.shape) for axes in arrangements(array.shape, wide.shape)]
    if not choices:
        raise CannotCompare(f"an output has shape {array.shape} instead of {wide.shape}")
    if array.shape == wide.shape:
        return array
    return min(choices, key=lambda one: score(wide, Noise.of(wide, wide), one).error)
