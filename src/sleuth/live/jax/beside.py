"""A function of the program's, and beside it another that tells of training in it.

The program gets what its own function gives, compiled as it would be without us: the same bits. The other one is given
the same arguments now and then, and returns nothing but what was seen. Steps between are counted; should a number go
bad, they are done again in order (`kept.py`)."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import stepping, tracing
from sleuth.live.jax.kept import Kept, are_finite, copied
from sleuth.live.jax.recipe import unseen
from sleuth.live.jax.sights import Sight, Site, Told, count_steps, gather


@dataclass(eq=False, slots=True)
class Trace:
    """One trace of the program's own function."""

    # As it was when the function was traced, for whoever traces it once more.
    randomness: Any = field(default_factory=lambda: (random.getstate(), np.random.get_state()))
    # Were gradients taken, or an optimiser asked, while it was traced?
    trains: bool = False
    # What is seen in it; None where nobody has looked yet.
    sites: tuple[Site, ...] | None = None
    # To call it once more would do more than compute.
    has_effects: bool = False


@dataclass(eq=False, slots=True)
class Mark:
    """Goes with a function's results, and says which trace of it gave them. A pytree without leaves: to the compiler it
    is nothing."""

    trace: Trace | None


jax.tree_util.register_pytree_node(Mark, lambda mark: ((), mark.trace), lambda trace, _: Mark(trace))


def marked(get: Callable[[], Any]) -> Any:
    """The program's function as it is, with a mark beside its result."""

    @functools.wraps(get(), updated=())
    def own(*args: Any, **kwargs: Any) -> Any:
        if tracing.is_clean():
            return get()(*args, **kwargs), Mark(None)
        trace = Trace()
        with tracing.tracing_own(trace):
            return get()(*args, **kwargs), Mark(trace)

    return named(own, get)


def telling(get: Callable[[], Any], whole: bool) -> Any:
    """What gives all that is seen in the program's function; of loops every round (`whole`), or the first ones."""

    @functools.wraps(get(), updated=())
    def teller(*args: Any, **kwargs: Any) -> Any:
        call = functools.partial(get(), *args, **kwargs)
        return gather(call, whole, lambda gatherer, result: gatherer.close((args, kwargs), result))[1]

    return named(teller, get)


def named(function: Any, get: Callable[[], Any]) -> Any:
    if not hasattr(function, "__name__"):
        function.__name__ = type(get()).__name__
    return function


class Beside:
    """`own` gives (result, Mark). `compiled` makes the function that tells, of whole loops or of their beginnings.
    `effects` are those of the program's function, given its arguments. `gives_away`: it may overwrite these."""

    def __init__(
        self, own: Any, compiled: Callable[[bool], Any], effects: Callable[[Any, Any], Any], gives_away: bool = False
    ) -> None:
        self.own, self._gives_away, self._effects = own, gives_away, effects
        self._compiled = functools.cache(compiled)
        self._steps = 0
        self._next_told: float = 0
        self._sites: tuple[Site, ...] = ()
        self._is_cheap = False
        self._kept: Kept | None = None

    def __call__(self, listener: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._is_cheap:
            return self._tell_first(listener, args, kwargs)
        leaves, tree = jax.tree_util.tree_flatten((args, kwargs))
        is_due = self._steps >= self._next_told
        spare = copied(leaves, self._gives_away) if is_due else leaves
        result, mark = self.own(*args, **kwargs)
        trace = mark.trace
        if trace is None or not trace.trains:
            if not self._steps:
                self._next_told = math.inf
            return result
        try:
            listener.hear(self._seen(trace, tree, leaves, spare, jax.tree_util.tree_leaves(result), is_due))
        except Exception as error:
            listener.fail(error)
        return result

    def _tell_first(self, listener: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What an optimiser is given is told at next to no cost, every time."""
        told = None
        leaves = jax.tree_util.tree_leaves((args, kwargs))
        try:
            told = self._compiled(False)(*args, **kwargs)
        except Exception as error:
            listener.fail(error)
        result, _ = self.own(*args, **kwargs)
        if told is not None:
            try:
                listener.hear(told.open(leaves, jax.tree_util.tree_leaves(result)))
            except Exception as error:
                listener.fail(error)
        return result

    def _seen(
        self, trace: Trace, tree: Any, leaves: list[Any], spare: list[Any], results: list[Any], is_due: bool
    ) -> list[Sight]:
        """What one call did: all of it where that is due, a few words elsewhere. Its arguments are `leaves`, and
        `spare` where those may be gone."""
        is_told = is_due
        if trace.sites is None and (is_due or not self._gives_away):
            is_told = True
            trace.sites = self._look_into(trace, *jax.tree_util.tree_unflatten(tree, spare))
            trace.trains = bool(trace.sites)
        if trace.sites is None:
            # Its arguments are gone. It is taken for what was seen before, and looked into soon.
            self._next_told = 0
        else:
            self._sites = trace.sites
        if not self._sites:
            return []
        self._is_cheap = all(site.is_of_arguments for site in self._sites) and not trace.has_effects
        is_told &= not trace.has_effects
        if is_told:
            args, kwargs = jax.tree_util.tree_unflatten(tree, spare)
            told: Told = self._compiled(False)(*args, **kwargs)
            sights = told.open(spare, results, leaves)
        else:
            sights = [site.in_a_few_words(leaves, results) for site in self._sites]
        count_steps(sights)
        for sight in sights:
            if sight.many and sight.loss is None:
                sight.sound = are_finite(results)
        if not trace.has_effects:
            self._keep(sights, tree, leaves, spare, results, is_due)
        self._steps += 1
        if is_due:
            self._next_told = stepping.next_told(self._steps - 1, all(site.knows_loss for site in self._sites))
        return sights

    def _keep(
        self, sights: list[Sight], tree: Any, leaves: list[Any], spare: list[Any], results: list[Any], is_due: bool
    ) -> None:
        """The call can be done again after those before it; where it tells all, those to come after it."""
        kept = self._kept
        number = kept.add(leaves, tree, results) if kept is not None else None
        if is_due:
            self._kept = Kept(tracing.listener(), self.own, self._tells_all, self._gives_away)
            first = self._kept.add(spare, tree, results)
            if number is None:
                kept, number = self._kept, first
        if number is None:
            kept = self._kept = None
        for sight in sights:
            sight.kept, sight.kept_as = kept, number or 0

    def _tells_all(self) -> Any:
        return self._compiled(any(site.is_of_a_loop for site in self._sites))

    def _look_into(self, trace: Trace, args: Any, kwargs: Any) -> tuple[Site, ...]:
        """What is to be seen in it. Nothing is computed, or compiled."""
        name = getattr(self.own, "__name__", "a function")
        with unseen(trace.randomness):
            trace.randomness = None
            try:
                sites = self._trace(False, args, kwargs)
                if any(site.is_of_a_loop for site in sites):
                    # It may be asked for when nobody listens any more.
                    self._trace(True, args, kwargs)
                trace.has_effects = bool(sites and self._effects(args, kwargs))
            except Exception as error:
                tracing.listener().could_not_look_into(name, error)
                return ()
        if trace.has_effects:
            tracing.listener().cannot_repeat(name)
        return sites

    def _trace(self, whole: bool, args: Any, kwargs: Any) -> tuple[Site, ...]:
        tree = self._compiled(whole).trace(*args, **kwargs).out_tree
        sites: tuple[Site, ...] = jax.tree_util.tree_unflatten(tree, [None] * tree.num_leaves).sites
        return sites
