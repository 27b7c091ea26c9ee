"""The few numbers of each step, and which steps are looked at closely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# Close looks: often while the run is young, then now and then.
_LOOKS = (0, 1, 2, 3, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 768, 1024)
_EVERY = 1024
# A loop inside a compiled function does not know how many steps came before it. A short one, which the program runs
# again and again, sends two of its rounds.
_SHORT = 128
# Steps that are told in full, beside the program's own: every so many up to a step. More of them where the program does
# not return its loss: how that goes is seen only there.
_TOLD = ((1, 16), (4, 128), (8, 256), (32, 512), (64, 1 << 62))
_TOLD_FOR_THE_LOSS = ((1, 32), (2, 128), (4, 256), (8, 512), (64, 1 << 62))
# Of a loop inside a compiled function so many rounds, or this share of them.
_ROUNDS, _SHARE_OF_ROUNDS = 16, 16
# A row is: step, loss, distance of the gradients given from the fresh ones, learning rate (where the optimiser's state
# tells it), then the norm of each gradient (and, where they cost nothing more, of each update).
STEP, LOSS, DISTANCE, RATE, FIRST_NORM = range(5)


def is_due(step: int) -> bool:
    """Is this step to be looked at?"""
    return step in _LOOKS or (step > _LOOKS[-1] and step % _EVERY == 0)


def next_due(step: int) -> int:
    """The next such step after this one."""
    return next((one for one in _LOOKS if one > step), (step // _EVERY + 1) * _EVERY)


def next_told(step: int, knows_loss: bool) -> int:
    """The next step after this one that is told in full. After a close look it is the very next: that shows how far the
    weights have moved."""
    if is_due(step):
        return step + 1
    every = next(every for every, end in (_TOLD if knows_loss else _TOLD_FOR_THE_LOSS) if step < end)
    return (step // every + 1) * every


def told_rounds(length: int) -> int:
    """So many rounds of a loop are told in full."""
    return min(length, max(_ROUNDS, length // _SHARE_OF_ROUNDS))


def due_between(after: int, step: int) -> bool:
    """Was a step to be looked at after that one, up to this one?"""
    return any(after < one <= step for one in _LOOKS) or step // _EVERY > max(after, _LOOKS[-1]) // _EVERY


def due_in_loop(index: Any, length: int) -> Any:
    """The same for a round of a loop, by its index."""
    if length < _SHORT:
        return (index == 0) | (index == length // 2)
    table = jnp.asarray(np.isin(np.arange(_LOOKS[-1] + 1), _LOOKS))
    return jnp.where(index <= _LOOKS[-1], table[jnp.minimum(index, _LOOKS[-1])], index % _EVERY == 0)


def row(step: Any, loss: Any, given: Any, fresh: Any, updates: Any = (), rate: Any = None) -> Any:
    """The numbers of one step. Norms are taken leaf by leaf: of the whole they follow."""
    given, updates = jax.tree.leaves(given), jax.tree.leaves(updates)
    pairs = zip(given, jax.tree.leaves(fresh), strict=True) if fresh is not None else ()
    apart = [(a, b) for a, b in pairs if a is not b]
    distance = jnp.float32(0 if fresh is not None else jnp.nan)
    if apart:
        distance = jnp.sqrt(sum(_square(a.astype(jnp.float32) - b.astype(jnp.float32)) for a, b in apart))
    numbers = [jnp.asarray(step, jnp.float32), _number(loss), distance, _number(rate)]
    numbers += [jnp.sqrt(_square(leaf)) for leaf in (*given, *updates)]
    return jnp.stack(numbers)


def _number(value: Any) -> Any:
    return jnp.float32(jnp.nan) if value is None else jnp.real(jnp.asarray(value)).astype(jnp.float32).reshape(())


def _square(leaf: Any) -> Any:
    if jnp.iscomplexobj(leaf):
        leaf = jnp.abs(leaf)
    # A product of vectors, as it is, costs the least: anything done to them first would be written to memory.
    return jnp.vdot(leaf, leaf, preferred_element_type=jnp.float32)


def is_bad(numbers: Any, has_loss: bool, leaves: int) -> Any:
    """Is the loss, or a gradient, not finite?"""
    total = jnp.sum(numbers[FIRST_NORM : FIRST_NORM + leaves])
    return ~jnp.isfinite(total + numbers[LOSS] if has_loss else total)


def all_finite(rows: np.ndarray[Any, Any], has_loss: bool) -> bool:
    """The same of one row, or of several, outside."""
    return bool(np.isfinite(rows[..., FIRST_NORM:]).all() and (not has_loss or np.isfinite(rows[..., LOSS]).all()))


def send_when(wanted: Any, numbers: Any, values: Sequence[Any], send: Any) -> None:
    """Inside a compiled function: give these to `send` on the host, on a thread of the runtime's."""
    keys = [jax.random.key_data(v) if _is_key(v) else v for v in values]

    def tell(numbers: Any, *values: Any) -> None:
        jax.debug.callback(lambda n, *v: send(np.asarray(n), v), numbers, *values)

    jax.lax.cond(wanted, tell, lambda *_: None, numbers, *keys)


def _is_key(value: Any) -> bool:
    return bool(jax.dtypes.issubdtype(getattr(value, "dtype", None), jax.dtypes.prng_key))
