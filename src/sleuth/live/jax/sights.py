"""What is seen of training inside a traced function, and how it comes out.

A function that JAX compiles gives only what it returns. So a function is compiled beside the program's that returns the
few numbers of each step: no callback, nothing to wait for. What the loss was computed from is mostly among the
function's arguments, and is taken from there."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol

import jax

from sleuth.live.jax import differentiated, stepping, tracing
from sleuth.live.jax.variants import Variant

if TYPE_CHECKING:
    from sleuth.live.jax.kept import Kept

# What is neither an argument nor a result comes out with the numbers up to this size; beyond it, only of a bad step.
_MOST_CARRIED = 32 << 20

Values = Sequence[Any]
Found = tuple[Literal["argument", "result", "carried", "known"], Any]


class Listener(Protocol):
    """Who is told of a sight once its values are numbers."""

    def arrived(self, sight: Sight) -> None: ...


@dataclass(eq=False, slots=True)
class Sight:
    """One step, or one gradient, or (`many`) those of the rounds of a loop. Inside a trace the values are tracers, and
    outside they may still be being computed.

    `row` is as `stepping.row` makes it; None where only the `loss` is known, or nothing but that it was. `moving` are
    the inputs of the loss that the variant does not know; `given` what an optimiser was given whose gradients are not
    of this trace; `gradients` those that no optimiser here was given."""

    listener: Listener
    row: Any
    variant: Variant | None = None
    has_loss: bool = True
    # How many rounds each loop around it has, the outermost first. `row` may tell of the first ones alone.
    lengths: tuple[int, ...] = ()
    # What a loop, or a bad step, sent on its way: rows with their moving inputs.
    sent: deque[tuple[Any, Any]] | None = None
    moving: Values | None = None
    given: Values | None = None
    gradients: Values | None = None
    # In the trace, the loss; outside, where it is a result of the program's function, or where a step is joined outside
    # of any trace: a number, the row that has it, or those of all rounds.
    loss: Any = None
    # How the loss is computed, and from what, is found out only where that is asked for.
    distance: Any = None
    late: Callable[[], tuple[Variant, list[Any]]] | None = None
    due: bool = False
    # The calls up to the one that took this step, which is there by this number. It took so many steps, and so many
    # before this one.
    kept: Kept | None = None
    kept_as: int = 0
    # Where the gradients were taken elsewhere, whom that was told.
    kept_for: Listener | None = None
    steps_of_call: int = 1
    earlier_in_call: int = 0
    # Of a loop whose losses are not known: are all numbers that its function gave finite?
    sound: Any = None
    # How to get at `moving`, until that is asked for: it rarely is.
    _pick: Callable[[], Values] | None = None

    def settle(self) -> None:
        """Hold on to what may be asked for, and to nothing else of the call."""
        if self._pick is not None:
            self.moving, self._pick = self._pick(), None

    @property
    def many(self) -> bool:
        return bool(self.lengths)

    @property
    def steps(self) -> int:
        return math.prod(self.lengths)

    @property
    def holds(self) -> bool:
        return self.moving is not None or self._pick is not None

    @property
    def is_at_hand(self) -> bool:
        """Is it known, still, what the loss was computed from? It may have been given away to the next step."""
        self.settle()
        if self.variant is None or self.moving is None:
            return False
        return not any(isinstance(value, jax.Array) and value.is_deleted() for value in self.moving)

    def inputs(self) -> list[Any] | None:
        return self.variant.inputs(self.moving) if self.is_at_hand else None  # type: ignore[union-attr, arg-type]

    def weights(self) -> list[Any] | None:
        return self.variant.weights(self.moving) if self.is_at_hand else None  # type: ignore[union-attr, arg-type]


class Site:
    """A sight without its values: for each of them, where it is to be found."""

    __slots__ = ("_blank", "_in_a_few_words", "_loss", "_places", "_row", "is_of_arguments")

    def __init__(self, sight: Sight, row: int, places: dict[str, list[Found]], loss: int | None) -> None:
        """`loss` is the number of the result that is it."""
        sent = sight.sent if sight.sent is not None else deque()
        self._blank = sight.listener, sight.variant, sight.has_loss, sight.lengths, sent
        self._row, self._loss = row, loss
        self._places = [(name, _getter(found)) for name, found in places.items()]
        sources = {name: {source for source, _ in found} for name, found in places.items()}
        outside = "gradients" in places and all("carried" not in found for found in sources.values())
        self._in_a_few_words = self._places if outside else []
        # It tells of nothing but what an optimiser was given from elsewhere.
        self.is_of_arguments = sources.get("given") == {"argument"}

    @property
    def knows_loss(self) -> bool:
        """Is the loss among what the program's function returns?"""
        return self._loss is not None

    @property
    def is_of_a_loop(self) -> bool:
        return bool(self._blank[3])

    def open(self, carried: Values, arguments: Values, results: Values, own: Values) -> Sight:
        """`own` are the arguments themselves, should `arguments` be copies of them."""
        listener, variant, has_loss, lengths, sent = self._blank
        sight = Sight(listener, carried[self._row], variant, has_loss, lengths, sent)
        if lengths and self._loss is not None:
            sight.loss = results[self._loss]
        for name, get in self._places:
            if name == "moving":
                sight._pick = partial(get, carried, arguments, results)
            else:
                setattr(sight, name, get(carried, own, results))
        return sight

    def in_a_few_words(self, arguments: Values, results: Values) -> Sight:
        """What is known of a step from the program's own arguments and results."""
        listener, variant, _, lengths, _ = self._blank
        sight = Sight(listener, None, variant, self._loss is not None, lengths)
        if self._loss is not None:
            sight.loss = results[self._loss]
        for name, get in self._in_a_few_words:
            setattr(sight, name, get((), arguments, results))
        return sight

    def in_trace(self, carried: Values, arguments: Values, results: Values) -> Sight:
        """Inside another function that is traced."""
        sight = self.open(carried, arguments, results, arguments)
        sight.settle()
        sight.loss = results[self._loss] if self._loss is not None else None
        return sight


Getter = Callable[[Values, Values, Values], Values]


def _getter(places: list[Found]) -> Getter:
    """What gives the values that are to be found at these places. Mostly all are among the arguments."""
    numbers = [value for source, value in places if source == "argument"]
    if len(places) > 1 and len(numbers) == len(places):
        pick = itemgetter(*numbers)
        return lambda carried, arguments, results: pick(arguments)

    def get(carried: Values, arguments: Values, results: Values) -> Values:
        among = {"carried": carried, "argument": arguments, "result": results}
        return [value if source == "known" else among[source][value] for source, value in places]

    return get


class Told:
    """The values of a function's sights, as a pytree: which sights they are belongs to its structure."""

    __slots__ = ("carried", "sites")

    def __init__(self, sites: tuple[Site, ...], carried: Values) -> None:
        self.sites, self.carried = sites, carried

    def open(self, arguments: Values, results: Values, own: Values | None = None) -> list[Sight]:
        """The leaves of the arguments and results of the call that gave this."""
        own = arguments if own is None else own
        return [site.open(self.carried, arguments, results, own) for site in self.sites]

    def in_trace(self, arguments: Any, result: Any) -> list[Sight]:
        """The same inside another trace."""
        leaves = jax.tree.leaves(arguments), jax.tree.leaves(result)
        return [site.in_trace(self.carried, *leaves) for site in self.sites]


def count_steps(sights: list[Sight]) -> None:
    """Those of one call know of each other."""
    if len(sights) == 1 and not sights[0].many:
        return
    taken: dict[int, int] = {}
    for sight in sights:
        sight.earlier_in_call = taken.get(id(sight.listener), 0)
        taken[id(sight.listener)] = sight.earlier_in_call + sight.steps
    for sight in sights:
        sight.steps_of_call = taken[id(sight.listener)]


NOTHING = Told((), ())
jax.tree_util.register_pytree_node(
    Told, lambda told: (tuple(told.carried), told.sites), lambda sites, carried: Told(sites, carried)
)


class Gatherer:
    """Takes what is seen in one trace."""

    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.sights: list[Sight] = []

    def close(self, arguments: Any, result: Any) -> Told:
        """At the end of a compiled function."""
        numbers = _numbers(result)
        places: dict[int, Found] = {key: ("result", i) for key, i in numbers.items()}
        places |= {key: ("argument", i) for key, i in _numbers(arguments).items()}
        carried: list[Any] = []
        sites = []
        for sight in self.sights:
            row = len(carried)
            carried.append(sight.row)
            sites.append(Site(sight, row, dict(_lists(sight, places, carried)), numbers.get(id(sight.loss))))
        self.sights = []
        return Told(tuple(sites), carried)

    def close_round(self, index: Any, rounds: int, length: int, result: Any) -> Told:
        """At the end of a loop's body, which runs for so many rounds of all that the program has it run: arrays that
        are looked at are sent, the rows pile up."""
        numbers = _numbers(result)
        due = stepping.due_in_loop(index, rounds)
        sites = []
        for i, sight in enumerate(self.sights):
            if not sight.many:
                sight.row = sight.row.at[stepping.STEP].set(index.astype(sight.row.dtype))
                if sight.moving is not None:
                    _send(sight, due)
            sight.lengths = (length, *sight.lengths)
            sites.append(Site(sight, i, {}, numbers.get(id(sight.loss))))
        told = Told(tuple(sites), [sight.row for sight in self.sights])
        self.sights = []
        return told


def gather(function: Callable[[], Any], whole: bool, close: Callable[[Gatherer, Any], Told]) -> tuple[Any, Told]:
    """Inside a trace: what the function gives, and what is seen in it, as `close` has it; of loops every round
    (`whole`), or the first ones."""
    gatherer, listener = Gatherer(tracing.current()), tracing.listener()
    with tracing.gathering(gatherer, whole):
        result = function()
        if listener is None:
            return result, NOTHING
        try:
            listener.trace_ends(gatherer, differentiated.forget(gatherer.trace))
            return result, close(gatherer, result)
        except Exception as error:
            listener.fail(error)
            return result, NOTHING


def _lists(sight: Sight, places: dict[int, Found], carried: list[Any]) -> Iterator[tuple[str, list[Found]]]:
    """Where each value of the sight's lists is to be found; what is not at hand, and small, is carried out."""
    for name in ("moving", "given", "gradients"):
        values = getattr(sight, name)
        if values is None:
            continue
        absent = [v for v in values if _is_traced(v) and id(v) not in places]
        if absent and name != "moving":
            continue
        if sum(v.size * v.dtype.itemsize for v in absent) > _MOST_CARRIED:
            _send(sight, False)
            continue
        found: list[Found] = []
        for value in values:
            if not _is_traced(value):
                found.append(("known", value))
                continue
            if id(value) not in places:
                carried.append(value)
                places[id(value)] = ("carried", len(carried) - 1)
            found.append(places[id(value)])
        yield name, found


def _send(sight: Sight, due: Any) -> None:
    """On its way if due, or bad."""
    if sight.variant is None:
        return
    sent = sight.sent = deque()
    bad = stepping.is_bad(sight.row, sight.has_loss, len(sight.variant.recipe.weights))
    stepping.send_when(due | bad, sight.row, sight.moving or (), lambda row, moving: sent.append((row, moving)))


def _numbers(tree: Any) -> dict[int, int]:
    """By the identity of the leaves, where among them they are."""
    return {id(leaf): i for i, leaf in enumerate(jax.tree.leaves(tree)) if _is_traced(leaf)}


def _is_traced(value: Any) -> bool:
    return isinstance(value, jax.core.Tracer)
