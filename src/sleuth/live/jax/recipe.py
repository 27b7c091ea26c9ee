"""How a loss is computed: the differentiated function as a jaxpr, and which of its inputs are weights."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

import jax
import numpy as np

from sleuth.findings import Place
from sleuth.live.jax.differentiated import Differentiated, Forward, is_array, original
from sleuth.live.jax.listing import Listing, Op, read
from sleuth.program import place_of


@dataclass(eq=False)
class Recipe:
    """Inputs go in the order constants, then arguments. `weights` are, for each leaf of the gradients, the input it is
    the gradient of. `closed` gives the loss as its first result."""

    closed: Any
    listing: Listing
    weights: tuple[int, ...]
    names: tuple[str, ...]
    structure: Any
    line: tuple[CodeType, int] | None
    relocate: Callable[[Op], Any] | None = None
    _gradient: Any = None
    plan: Any = None

    @cached_property
    def place(self) -> Place | None:
        return place_of(*self.line) if self.line is not None else None

    @property
    def data(self) -> list[int]:
        """The inputs that are no weights."""
        return [i for i in range(len(self.listing.leaves)) if i not in set(self.weights)]

    def loss(self, inputs: Sequence[Any]) -> Any:
        constants = len(self.closed.jaxpr.constvars)
        return jax.core.eval_jaxpr(self.closed.jaxpr, inputs[:constants], *inputs[constants:])[0]

    def loss_of(self, weights: Sequence[Any], inputs: Sequence[Any]) -> Any:
        return self.loss(self.with_weights(weights, inputs))

    def with_weights(self, weights: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        mixed = list(inputs)
        for i, weight in zip(self.weights, weights, strict=True):
            mixed[i] = weight
        return mixed

    def gradient_listing(self) -> Listing:
        """The operations of the loss and of its derivative."""
        if self._gradient is None:
            function = original("grad")(self.loss_of)

            def flat(*inputs: Any) -> Any:
                return function([inputs[i] for i in self.weights], inputs)

            avals = [v.aval for v in (*self.closed.jaxpr.constvars, *self.closed.jaxpr.invars)]
            found = read(jax.make_jaxpr(flat)(*(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals)))
            forward: dict[Any, set[str]] = {}
            for op in self.listing.ops:
                forward.setdefault(op.line, set()).add(op.name)
            for op in found.ops:
                op.line = self.relocate(op) if self.relocate is not None else op.line
                # What a line does in the derivative alone belongs to the derivative.
                op.in_backward |= op.name not in forward.get(op.line, ())
            self._gradient = found
        gradient: Listing = self._gradient
        return gradient


def trace(
    call: Differentiated, gradients: Any, relocate: Callable[[Op], Any] | None = None
) -> tuple[Recipe, list[Any]]:
    """The recipe of a call, and what goes into it (tracers, inside jit). `relocate` gives the line of an operation,
    where that is not the innermost of the user's."""
    forward = call.forward or _read_again(call)
    listing = read(forward.closed, 1)
    weights = _weights(call, gradients, forward)
    if relocate is not None:
        for op in listing.ops:
            op.line = relocate(op)
    structure = jax.tree.structure(gradients)
    recipe = Recipe(forward.closed, listing, weights, names_of(gradients), structure, call.line, relocate)
    return recipe, forward.inputs


def _read_again(call: Differentiated) -> Forward:
    """Runs the user's function once more, on no numbers."""
    leaves, structure = jax.tree.flatten((call.arguments, call.keywords))
    moving = [i for i, leaf in enumerate(leaves) if is_array(leaf)]

    def flat(*values: Any) -> Any:
        filled = list(leaves)
        for i, value in zip(moving, values, strict=True):
            filled[i] = value
        arguments, keywords = jax.tree.unflatten(structure, filled)
        result = call.function(*arguments, **keywords)
        return result[0] if isinstance(result, tuple) else result

    with unseen():
        closed = jax.make_jaxpr(flat)(*(leaves[i] for i in moving))
    first = len(closed.consts)
    positions = {i: first + order for order, i in enumerate(moving)}
    return Forward(closed, [*closed.consts, *(leaves[i] for i in moving)], positions)


def names_of(tree: Any) -> tuple[str, ...]:
    """The leaves of a tree by their dotted paths."""
    paths = jax.tree_util.tree_leaves_with_path(tree)
    return tuple(jax.tree_util.keystr(path, simple=True, separator=".") or "weights" for path, _ in paths)


def _weights(call: Differentiated, gradients: Any, forward: Forward) -> tuple[int, ...]:
    """Which inputs the gradients belong to."""
    argnums = call.argnums if isinstance(call.argnums, tuple | list) else (call.argnums,)
    chosen = [call.arguments[n] for n in argnums]
    if isinstance(call.argnums, tuple | list) and gradients is not call.gradients:
        chosen = [chosen[next(i for i, g in enumerate(call.gradients) if g is gradients)]]
    wanted = [id(leaf) for part in chosen for leaf in jax.tree.leaves(part)]
    leaves = call.leaves
    by_id = {id(leaves[i]): place for i, place in forward.positions.items()}
    return tuple(by_id[key] for key in wanted)


@contextlib.contextmanager
def unseen(begin_with: Any = None) -> Any:
    """What the user's function prints or draws while it is traced once more is as if it had not been. It draws what it
    drew from the state of `random` and `numpy.random` that is given."""
    drawn, numpys = random.getstate(), np.random.get_state()
    if begin_with is not None:
        random.setstate(begin_with[0])
        np.random.set_state(begin_with[1])
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        random.setstate(drawn)
        np.random.set_state(numpys)
