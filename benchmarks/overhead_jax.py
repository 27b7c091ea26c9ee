"""What `watched(optax.adam(...))` adds to a jitted training step: the same step with and without, interleaved."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import optax

from sleuth.integrations.optax import watched

RESULT = Path(__file__).parent / "results" / "overhead_jax.json"
WIDTHS = {"tiny": 32, "small": 256, "medium": 1024}
# Past the first steps, most of which get a close look.
WARM_UP = 140
ROUNDS, STEPS = 12, 40


def training(width: int, wrap: Callable[[Any], Any]) -> Callable[[], None]:
    """A step of an MLP of three layers; each call makes one."""
    keys = jax.random.split(jax.random.PRNGKey(0), 5)
    shapes = ((32, width), (width, width), (width, 8))
    params = [jax.random.normal(key, shape) / shape[0] ** 0.5 for key, shape in zip(keys, shapes, strict=False)]
    x = jax.random.normal(keys[3], (64, 32))
    y = jnp.argmax(x[:, :8], axis=1)
    tx = wrap(optax.adam(1e-3))

    def loss(params: Any, x: Any, y: Any) -> Any:
        h = jax.nn.relu(x @ params[0])
        h = jax.nn.relu(h @ params[1])
        return optax.softmax_cross_entropy_with_integer_labels(h @ params[2], y).mean()

    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        grads = jax.grad(loss)(params, x, y)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state

    jitted = jax.jit(step)
    held = [params, tx.init(params)]

    def once() -> None:
        held[:] = jitted(*held, x, y)
        # JAX computes on threads of its own: what is not waited for is counted against whoever comes next.
        jax.block_until_ready(held[0])

    for _ in range(WARM_UP):
        once()
    return once


def seconds(once: Callable[[], None]) -> float:
    start = time.process_time()
    for _ in range(STEPS):
        once()
    return (time.process_time() - start) / STEPS


def measure(width: int) -> dict[str, float]:
    bare, again, under_watch = (training(width, wrap) for wrap in (lambda tx: tx, lambda tx: tx, watched))
    times: dict[str, list[float]] = {"bare": [], "again": [], "watched": []}
    for _ in range(ROUNDS):
        for name, once in (("bare", bare), ("again", again), ("watched", under_watch)):
            times[name].append(seconds(once))
    base = statistics.median(times["bare"])
    return {
        "bare_milliseconds": round(base * 1e3, 3),
        "bare_again": round(statistics.median(times["again"]) / base, 3),
        "watched": round(statistics.median(times["watched"]) / base, 3),
    }


def main() -> None:
    result = {
        "about": {"jax": jax.__version__, "optax": optax.__version__, "rounds": ROUNDS, "steps": STEPS},
        "measured": "process-CPU time of a step relative to the bare step, median of the rounds",
        **{name: measure(width) for name, width in WIDTHS.items()},
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
