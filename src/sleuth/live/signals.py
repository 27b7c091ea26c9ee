"""What a rule sees of a run: facts, curves and looks, in plain numbers. No framework: whoever watches fills them in."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from sleuth.findings import Evidence, Finding, Place

# A curve is kept in at most this many stretches; when full, neighbours are merged.
STRETCHES = 512
# A loss within this share of chance is at chance.
_NEAR_CHANCE = 0.02


@dataclass(slots=True)
class Fact:
    """Something that was seen to happen in the program, as often as it happened at one place."""

    what: str
    place: Place | None
    first_step: int
    last_step: int
    times: int = 1
    numbers: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Place | None] = field(default_factory=dict)


class Facts:
    """Every fact of a run, counted by what happened where and to whom."""

    def __init__(self) -> None:
        self._all: dict[tuple[str, Any, Any], Fact] = {}

    def note(
        self,
        what: str,
        step: int,
        place: Place | None = None,
        who: Any = None,
        numbers: dict[str, Any] | None = None,
        **places: Place | None,
    ) -> Fact:
        key = (what, (place.path, place.line, place.column) if place else None, who)
        fact = self._all.get(key)
        if fact is None:
            fact = self._all[key] = Fact(what, place, step, step, 1, dict(numbers or {}), dict(places))
        else:
            fact.times += 1
            fact.last_step = step
            fact.numbers.update(numbers or {})
            fact.places.update({name: at for name, at in places.items() if at is not None})
        return fact

    def all(self, what: str) -> list[Fact]:
        """The facts of a kind, the most frequent first."""
        return sorted((fact for key, fact in self._all.items() if key[0] == what), key=lambda fact: -fact.times)

    def first(self, what: str) -> Fact | None:
        found = self.all(what)
        return found[0] if found else None


@dataclass(slots=True)
class Stretch:
    """Some steps on end of a curve."""

    start: int
    count: int
    total: float
    low: float
    high: float

    @property
    def mean(self) -> float:
        return self.total / self.count


class Curve:
    """A number over the steps of a run, in bounded memory: every value at first, then means of longer stretches."""

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self.count = 0
        self.first: float = math.nan
        self.last: float = math.nan
        self._width = 1

    def add(self, step: int, value: float) -> None:
        if not self.count:
            self.first = value
        self.count += 1
        self.last = value
        newest = self.stretches[-1] if self.stretches else None
        if newest is not None and newest.count < self._width:
            newest.count += 1
            newest.total += value
            newest.low = min(newest.low, value)
            newest.high = max(newest.high, value)
            return
        if len(self.stretches) >= STRETCHES:
            self._thin()
        self.stretches.append(Stretch(step, 1, value, value, value))

    def _thin(self) -> None:
        pairs = zip(self.stretches[::2], self.stretches[1::2], strict=False)
        self.stretches = [
            Stretch(a.start, a.count + b.count, a.total + b.total, min(a.low, b.low), max(a.high, b.high))
            for a, b in pairs
        ]
        self._width *= 2

    def part(self, start: float, end: float) -> float:
        """The mean over a part of the run, given as fractions of it."""
        some = self._between(start, end)
        return sum(s.total for s in some) / sum(s.count for s in some) if some else math.nan

    def median(self, start: float = 0.0, end: float = 1.0) -> float:
        some = self._between(start, end)
        return statistics.median(s.mean for s in some) if some else math.nan

    def means(self, parts: int) -> list[float]:
        """The run cut into equal parts, the mean of each."""
        return [self.part(i / parts, (i + 1) / parts) for i in range(parts)]

    def _between(self, start: float, end: float) -> list[Stretch]:
        length = len(self.stretches)
        low = min(int(start * length), max(length - 1, 0))
        return self.stretches[low : max(low + 1, math.ceil(end * length))]

    @property
    def lowest(self) -> float:
        return min((s.mean for s in self.stretches), default=math.nan)

    @property
    def highest(self) -> float:
        return max((s.high for s in self.stretches), default=math.nan)

    def __iter__(self) -> Iterator[Stretch]:
        return iter(self.stretches)

    def __len__(self) -> int:
        return self.count


@dataclass(slots=True)
class OptimizerSignals:
    """One optimiser as its rules see it."""

    kind: str
    made: Place | None
    stateful: bool
    settings: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    step_place: Place | None = None
    parameters: int = 0
    frozen: int = 0
    # Parameters that have had a gradient at some step; those that were among the leaves of a loss.
    with_gradient: int = 0
    in_graph: int = 0
    rate: float = 0.0
    highest_rate: float = 0.0
    rates_seen: int = 0
    # The rate that the library gives it unless it is told another.
    usual_rate: float | None = None
    scheduler_made: Place | None = None


@dataclass(slots=True)
class WeightLook:
    """A parameter at one look: its size before the step, and what the step did to it."""

    name: str
    shape: tuple[int, ...]
    made: Place | None
    initialised: Place | None
    norm: float
    gradient_norm: float | None
    update_norm: float | None
    # All rows (units) equal, for weights of two or more dimensions and units.
    rows_equal: bool | None = None
    unchanged: float | None = None
    half: bool = False
    is_embedding: bool = False


@dataclass(slots=True)
class ActivationLook:
    """The result of an activation function at one look."""

    kind: Literal["relu", "sigmoid", "tanh"]
    place: Place | None
    layer: str
    layer_made: Place | None
    # Shares between 0 and 1: of units that are zero for every sample, of values at the function's ends.
    dead: float
    saturated: float
    units: int
    samples: int
    input_size: float
    hidden: bool = True


@dataclass(slots=True)
class LossLook:
    """A call of a loss function at one look."""

    function: str
    place: Place | None
    value: float
    input_shape: tuple[int, ...]
    target_shape: tuple[int, ...]
    target_kind: Literal["class", "probability", "number"]
    # The last thing that happened to the input, views and reshapes left out: "softmax", "linear", ..., and where.
    made_by: str
    made_at: Place | None
    made_dim: int | None
    input_low: float
    input_high: float
    # How far the rows of the input are from adding up to 1, and their log-sum-exp from 0.
    row_sum_error: float
    row_log_sum: float
    target_low: float
    target_high: float
    target_mean: float
    target_variance: float
    integral_targets: bool
    labels: dict[int, int]
    predictions: dict[int, int]
    reduction: str
    is_root: bool
    negated_at: Place | None
    share_of_loss: float
    target_rows_sum_to_one: bool = True
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class InputLook:
    """What the model was called with at one look."""

    place: Place | None
    shape: tuple[int, ...]
    low: float
    high: float
    mean: float
    spread: float
    first_layer: str
    identical_rows: bool
    constant_columns: tuple[int, ...]
    normalised_first: bool
    column_values: tuple[float, ...] = ()
    # Further tensors the model was called with.
    others: int = 0


@dataclass(slots=True)
class Look:
    """One step looked at closely."""

    step: int
    loss: float
    weights: list[WeightLook] = field(default_factory=list)
    activations: list[ActivationLook] = field(default_factory=list)
    losses: list[LossLook] = field(default_factory=list)
    inputs: list[InputLook] = field(default_factory=list)
    # Linear maps whose input came straight from another linear map: first, second, and where that is made.
    linear_pairs: list[tuple[str, str, Place | None]] = field(default_factory=list)
    nonlinearities: int = 0
    normalisations: int = 0
    dropouts: list[tuple[float, Place | None]] = field(default_factory=list)


@dataclass(slots=True)
class Evaluation:
    """The mean loss of one pass over validation data."""

    step: int
    loss: float
    place: Place | None


@dataclass(frozen=True, slots=True)
class Trial:
    """What an experiment on a copy of the model showed."""

    name: str
    before: float
    after: float
    says: str

    @property
    def reached(self) -> float:
        """The loss at the end; infinite where it was lost on the way."""
        return math.inf if math.isnan(self.after) else self.after


class Laboratory(Protocol):
    """Cheap experiments on a copy. Each gives None where it cannot be done, or the time for it is used up."""

    def one_batch(self) -> Trial | None:
        """Can the model learn a single batch by heart?"""

    def rates(self, factors: Iterable[float]) -> dict[float, Trial] | None:
        """A short training from the first weights at the run's own learning rate times each factor."""

    def unseen(self) -> Trial | None:
        """Train on some batches, measure on others: does anything carry over?"""

    def cut_short(self) -> None:
        """Someone waits: end the experiment that is under way, and make no other."""


class NoLaboratory:
    """For a run in which no experiment can be made."""

    def one_batch(self) -> Trial | None:
        return None

    def rates(self, factors: Iterable[float]) -> dict[float, Trial] | None:
        return None

    def unseen(self) -> Trial | None:
        return None

    def cut_short(self) -> None:
        return None


@dataclass(slots=True)
class Crash:
    """The error that ended the program: its class, its words, the user's innermost line, and what is to be said of it
    if no rule knows better."""

    kind: str
    message: str
    place: Place | None
    explanation: Finding | None = None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """What the failing frames held, where the message is known."""
        return self.explanation.evidence if self.explanation is not None else ()

    def is_known_as(self, diagnosis: str) -> bool:
        return self.explanation is not None and self.explanation.diagnosis == diagnosis


@dataclass
class Run:
    """All a rule may ask."""

    facts: Facts = field(default_factory=Facts)
    loss: Curve = field(default_factory=Curve)
    gradient: Curve = field(default_factory=Curve)
    looks: list[Look] = field(default_factory=list)
    optimizers: list[OptimizerSignals] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    laboratory: Laboratory = field(default_factory=NoLaboratory)
    step: int = 0
    backwards: int = 0
    epochs: int = 0
    batches_per_epoch: int | None = None
    loader_made: Place | None = None
    backward_place: Place | None = None
    ended: bool = False
    crash: Crash | None = None
    scaled: bool = False
    # Batches dealt in the first epoch, and how many of those held a single class.
    batches_seen: int = 0
    batches_of_one_class: int = 0
    classes_seen: int = 0
    shuffled: bool | None = None
    # How many operations each look's backward pass goes through, as (step, count).
    graph_sizes: list[tuple[int, int]] = field(default_factory=list)
    # Dataset rows per label value, over all looks.
    labels: dict[int, int] = field(default_factory=dict)

    @property
    def stepping(self) -> list[OptimizerSignals]:
        """The optimisers that have stepped."""
        return [held for held in self.optimizers if held.steps]

    @property
    def mature(self) -> bool:
        """Has it gone on for long enough to judge its curves?"""
        return self.loss.count >= (100 if self.ended else 256)

    @property
    def recent(self) -> float:
        """The mean loss of the last fifth of the run."""
        return self.loss.part(0.8, 1.0)

    @property
    def start(self) -> float:
        """The mean loss of the first few steps."""
        return self.loss.part(0.0, 0.03)

    def learns(self, share: float) -> bool:
        """Has the loss come down to this share of its start, and of what answering blindly would cost?"""
        chance = self.chance
        return self.recent < share * min(self.start, chance if chance is not None else self.start)

    @property
    def at_chance(self) -> bool:
        """Does the loss stay where a model that ignores its input would have it?"""
        chance = self.chance
        if chance is None or not self.mature or chance < 0.05:
            return False
        late = self.loss.part(0.6, 1.0)
        return abs(late - chance) <= _NEAR_CHANCE * chance and abs(self.recent - chance) <= 2 * _NEAR_CHANCE * chance

    @property
    def training_losses(self) -> list[LossLook]:
        """The loss function's calls behind the numbers that were differentiated, look by look."""
        return [loss for look in self.looks for loss in look.losses]

    @property
    def supervised(self) -> LossLook | None:
        """The loss function of a plain supervised run: one optimiser, one known loss, the same at every look, and
        targets that come from the data."""
        if len(self.stepping) != 1:
            return None
        roots = [[loss for loss in look.losses if loss.is_root] for look in self.looks]
        seen = [found[0] for found in roots if len(found) == 1]
        if not seen or len(seen) < max(1, 0.7 * len(self.looks)) or len({loss.function for loss in seen}) != 1:
            return None
        # The first look may begin before the loop does, where a data set is computed once and for all.
        if any(loss.extra.get("computed_targets") for loss in seen[1:] or seen):
            return None
        return seen[-1]

    @property
    def chance(self) -> float | None:
        """The loss of a model that ignores its input and answers with the labels' distribution."""
        last = self.supervised
        if last is None or last.reduction != "mean" or last.extra.get("weighted") or last.extra.get("pos_weight"):
            return None
        seen = [loss for loss in self.training_losses if loss.is_root]
        if last.target_kind == "class":
            return _entropy(self.labels.values())
        if last.function in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
            mean = statistics.fmean(loss.target_mean for loss in seen)
            if not 0 < mean < 1 or last.target_low < 0 or last.target_high > 1:
                return None
            return -mean * math.log(mean) - (1 - mean) * math.log(1 - mean)
        if last.function == "mse_loss":
            means = [loss.target_mean for loss in seen]
            return statistics.fmean(loss.target_variance for loss in seen) + statistics.pvariance(means)
        return None


def _entropy(counts: Iterable[int]) -> float | None:
    counts = list(counts)
    total = sum(counts)
    if not total or len(counts) < 2:
        return None
    return -sum(count / total * math.log(count / total) for count in counts if count)
