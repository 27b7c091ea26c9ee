"""Calls of a function since one whose arguments are held, so that they could be done again in order."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import stepping, tracing
from sleuth.live.jax.differentiated import original
from sleuth.live.jax.sights import Listener, Sight, count_steps

# Of more than this (in bytes) nothing is kept: a step that is seen to be bad is then told as it is. Until the numbers
# of a step are read, what came before it is kept, too.
_MOST_KEPT = 128 << 20


class _Of:
    """An argument that is a result of the call before."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


@functools.cache
def _results(count: int) -> list[_Of]:
    return [_Of(number) for number in range(count)]


class Kept:
    """`own` is the program's function, giving (result, mark); `teller` gives the one that tells all to the station."""

    def __init__(self, station: Any, own: Any, teller: Callable[[], Any], gives_away: bool) -> None:
        self._station, self._own, self._teller, self._gives_away = station, own, teller, gives_away
        self._calls: list[tuple[list[Any], Any]] | None = []
        # By their identity: arrays that are held, and the results of the newest call, which are there until the next:
        # what that is given of them need not be kept.
        self._held: dict[int, Any] = {}
        self._known: dict[int, Any] = {}
        self._results: Sequence[Any] = ()
        self._bytes = 0

    def add(self, leaves: list[Any], tree: Any, results: Sequence[Any]) -> int | None:
        """One call more; its number, or None once that is too much, or an argument is gone."""
        if self._calls is None:
            return None
        # This is done at every step.
        call: list[Any] = list(map(self._known.get, map(id, leaves)))
        if None in call:
            call = [self._hold(leaf) if known is None else known for leaf, known in zip(leaves, call, strict=True)]
        self._calls.append((call, tree))
        self._known = {**self._held, **dict(zip(map(id, results), _results(len(results)), strict=True))}
        self._results = results
        if self._bytes > _MOST_KEPT:
            self._calls, self._results, self._known = None, (), {}
            return None
        return len(self._calls) - 1

    def _hold(self, leaf: Any) -> Any:
        if isinstance(leaf, jax.Array):
            if self._gives_away and leaf.is_deleted():
                self._bytes = _MOST_KEPT + 1
            self._held[id(leaf)] = leaf
            self._bytes += leaf.nbytes
        elif isinstance(leaf, np.ndarray):
            # The program may fill it anew.
            self._bytes += leaf.nbytes
            return leaf.copy()
        return leaf

    def first_bad(self, listener: Listener, last: int) -> tuple[int, Sight] | None:
        """Does the calls again up to that one, and gives the first whose numbers are not finite."""
        results: Sequence[Any] = ()
        for number, (call, tree) in enumerate((self._calls or [])[: last + 1]):
            leaves = [results[one.number] if type(one) is _Of else one for one in call]
            if any(isinstance(leaf, jax.Array) and leaf.is_deleted() for leaf in leaves):
                return None
            args, kwargs = jax.tree_util.tree_unflatten(tree, leaves)
            with tracing.again(self._station):
                told = self._teller()(*args, **kwargs)
                args, kwargs = jax.tree_util.tree_unflatten(tree, copied(leaves, self._gives_away))
                results = jax.tree_util.tree_leaves(self._own(*args, **kwargs)[0])
            sights = told.open(leaves, results)
            count_steps(sights)
            for sight in sights:
                if sight.listener is listener and not stepping.all_finite(np.asarray(sight.row), sight.has_loss):
                    sight.settle()
                    return number, sight
        return None


def copied(leaves: list[Any], given_away: bool) -> list[Any]:
    """The same values in memory of their own, wherever the program might change them."""
    arrays = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)] if given_away else []
    fresh = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
    if arrays:
        for i, copy in zip(arrays, _copy()([leaves[i] for i in arrays]), strict=True):
            fresh[i] = copy
    return fresh


def are_finite(leaves: list[Any]) -> Any:
    """Are all numbers among these finite? To be read later."""
    return _finite()([leaf for leaf in leaves if jax.numpy.issubdtype(leaf.dtype, jax.numpy.inexact)])


@functools.cache
def _finite() -> Any:
    finite = jax.numpy.isfinite
    return original("jit")(lambda arrays: jax.numpy.array([finite(one).all() for one in arrays]).all())


@functools.cache
def _copy() -> Any:
    return original("jit")(lambda arrays: [jax.numpy.copy(one) for one in arrays])
