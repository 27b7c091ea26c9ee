"""The state of a watched optimiser: carries each step's few numbers out of a jitted step, with no callback.

A callback inside jit costs a millisecond a call, even when it is not taken. Instead the last rows of numbers ride along
in the optimiser's state. JAX rebuilds that state in Python whenever a jitted step returns or is called: there the host
sees the rows, and with them (for models that are small) what the loss was computed from, which are arrays that exist
anyway. Large models, and steps inside a scan, use the callback: next to such a step its millisecond is nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import jax
import jax.numpy as jnp
import numpy as np

ROWS = 16
# Close looks: often while the run is young, then now and then.
_LOOKS = (0, 1, 2, 3, 8, 16, 24, 32, 48, 64, 96, 128)
_EVERY = 256
# A row is: step, loss, distance of the gradients given from the fresh ones, then the norm of each gradient (and, where
# they cost nothing more, of each update).
STEP, LOSS, DISTANCE, FIRST_NORM = range(4)

Mode = Literal["called", "kept"]


def is_due(step: int) -> bool:
    """Is this step to be looked at?"""
    return step in _LOOKS or (step > _LOOKS[-1] and step % _EVERY == 0)


class Host(Protocol):
    """Who the state tells of itself."""

    def leaves_jit(self, state: WatchedState) -> None: ...
    def enters_jit(self, state: WatchedState) -> tuple[Mode, tuple[Any, ...]]: ...


class _Owner:
    """The host as a part of the state's structure, which it does not change: states of one shape stay of one shape."""

    def __init__(self, host: Host | None) -> None:
        self.host = host

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Owner) and (self.host is other.host or None in (self.host, other.host))

    def __hash__(self) -> int:
        return 0


@jax.tree_util.register_pytree_with_keys_class
class WatchedState:
    """The inner optimiser's state and, beside it, what the host wants to see. Asked for anything else it answers for
    the inner state, so that `state.hyperparams` or `state[0]` work as before."""

    def __init__(self, inner: Any, step: Any, rows: Any, kept: tuple[Any, ...], host: Host | None, mode: Mode) -> None:
        """`kept` is empty, or the number of a step and what its loss was computed from."""
        self.inner = inner
        self.sleuth_step = step
        self.sleuth_rows = rows
        self.sleuth_kept = kept
        self.sleuth_host = host
        self.sleuth_mode: Mode = mode

    def __reduce__(self) -> tuple[Any, ...]:
        """A state that is saved is saved without us."""
        return WatchedState, (self.inner, self.sleuth_step, self.sleuth_rows, (), None, "called")

    def tree_flatten_with_keys(self) -> tuple[tuple[tuple[Any, Any], ...], tuple[_Owner, Mode]]:
        children, aux = self.tree_flatten()
        names = ("inner", "sleuth_step", "sleuth_rows", "sleuth_kept")
        keys = (jax.tree_util.GetAttrKey(name) for name in names)
        return tuple(zip(keys, children, strict=True)), aux

    def tree_flatten(self) -> tuple[tuple[Any, ...], tuple[_Owner, Mode]]:
        if self.sleuth_host is not None and self.is_concrete:
            self.sleuth_mode, self.sleuth_kept = self.sleuth_host.enters_jit(self)
        children = (self.inner, self.sleuth_step, self.sleuth_rows, self.sleuth_kept)
        return children, (_Owner(self.sleuth_host), self.sleuth_mode)

    @classmethod
    def tree_unflatten(cls, aux: tuple[_Owner, Mode], children: Sequence[Any]) -> WatchedState:
        owner, mode = aux
        inner, step, rows, kept = children
        state = cls(inner, step, rows, kept, owner.host, mode)
        if owner.host is not None and state.is_concrete:
            owner.host.leaves_jit(state)
        return state

    @property
    def is_concrete(self) -> bool:
        """Are these numbers, and not what stands for them while a function is traced?"""
        return isinstance(self.sleuth_rows, jax.Array) and not isinstance(self.sleuth_rows, jax.core.Tracer)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """`isinstance(state, SAMState)` answers for the inner state, too."""
        return type(self.inner)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "sleuth_")) or name == "inner":
            raise AttributeError(name)
        return getattr(self.inner, name)

    def __getitem__(self, index: Any) -> Any:
        return self.inner[index]

    def __iter__(self) -> Any:
        return iter(self.inner)

    def __len__(self) -> int:
        return len(self.inner)


def first_state(inner: Any, params: Any, host: Any) -> WatchedState:
    width = FIRST_NORM + len(jax.tree.leaves(params))
    return WatchedState(inner, jnp.zeros((), jnp.int32), jnp.full((ROWS, width), jnp.nan), (), host, "called")


def row(step: Any, loss: Any, given: Any, fresh: Any, updates: Any = ()) -> Any:
    """The numbers of one step. Norms are taken leaf by leaf: of the whole they follow."""
    given, updates = jax.tree.leaves(given), jax.tree.leaves(updates)
    pairs = zip(given, jax.tree.leaves(fresh), strict=True) if fresh is not None else ()
    apart = [(a, b) for a, b in pairs if a is not b]
    # What is measured must not be fused with what is computed: the compiler would round the program's numbers anew.
    loss, given, updates, apart = jax.lax.optimization_barrier((loss, given, updates, apart))
    distance = jnp.float32(0 if fresh is not None else jnp.nan)
    if apart:
        distance = jnp.sqrt(sum(_square(a.astype(jnp.float32) - b.astype(jnp.float32)) for a, b in apart))
    loss = jnp.float32(jnp.nan) if loss is None else jnp.asarray(loss, jnp.float32).reshape(())
    numbers = [jnp.asarray(step, jnp.float32), loss, distance]
    numbers += [jnp.sqrt(_square(leaf)) for leaf in (*given, *updates)]
    return jnp.stack(numbers)


def _square(leaf: Any) -> Any:
    real = jnp.abs(leaf).astype(jnp.float32)
    return jnp.vdot(real, real)


def is_bad(numbers: Any, has_loss: bool, leaves: int) -> Any:
    """Is the loss, or a gradient, not finite?"""
    total = jnp.sum(numbers[FIRST_NORM : FIRST_NORM + leaves])
    return ~jnp.isfinite(total + numbers[LOSS] if has_loss else total)


def send_when_due(step: Any, bad: Any, rows: Any, inputs: Sequence[Any], send: Any) -> None:
    """Inside jit: call `send` on the host at steps that are due or bad, and whenever the rows are full."""
    table = jnp.asarray(np.isin(np.arange(_LOOKS[-1] + 1), _LOOKS))
    due = jnp.where(step <= _LOOKS[-1], table[jnp.minimum(step, _LOOKS[-1])], step % _EVERY == 0)
    keys = [jax.random.key_data(i) if _is_key(i) else i for i in inputs]

    def tell(rows: Any, *values: Any) -> None:
        jax.debug.callback(lambda r, *v: send(r, v), rows, *values)

    jax.lax.cond(due | bad, tell, lambda *_: None, rows, *keys)
    jax.lax.cond((step + 1) % ROWS == 0, lambda r: jax.debug.callback(lambda v: send(v, None), r), lambda _: None, rows)


def _is_key(value: Any) -> bool:
    return bool(jax.dtypes.issubdtype(getattr(value, "dtype", None), jax.dtypes.prng_key))
