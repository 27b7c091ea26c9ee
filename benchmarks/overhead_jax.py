"""What a watch adds to a jitted training step of optax: the same step with and without, interleaved."""

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

import sleuth

RESULT = Path(__file__).parent / "results" / "overhead_jax.json"
WIDTHS = {"tiny": 32, "small": 256, "medium": 1024}
# Past the first steps, more of which are told in full.
WARM_UP = 520
# Every 64th step is told in full.
ROUNDS, STEPS = 30, 64


def training(width: int, donate: bool = False, returns_loss: bool = False) -> Callable[[], None]:
    """A step of an MLP of three layers; each call makes one."""
    keys = jax.random.split(jax.random.PRNGKey(0), 5)
    shapes = ((32, width), (width, width), (width, 8))
    params = [jax.random.normal(key, shape) / shape[0] ** 0.5 for key, shape in zip(keys, shapes, strict=False)]
    x = jax.random.normal(keys[3], (64, 32))
    y = jnp.argmax(x[:, :8], axis=1)
    tx = optax.adam(1e-3)

    def loss(params: Any, x: Any, y: Any) -> Any:
        h = jax.nn.relu(x @ params[0])
        h = jax.nn.relu(h @ params[1])
        return optax.softmax_cross_entropy_with_integer_labels(h @ params[2], y).mean()

    def step(params: Any, state: Any, x: Any, y: Any) -> Any:
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value if returns_loss else None

    jitted = jax.jit(step, donate_argnums=(0, 1) if donate else ())
    held = [params, tx.init(params), None]

    def once() -> None:
        held[:] = jitted(*held[:2], x, y)
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
    ways: dict[str, dict[str, bool]] = {"": {}, ", donating": {"donate": True}, ", loss": {"returns_loss": True}}
    steps = {"bare" + way: training(width, **options) for way, options in ways.items()} | {"again": training(width)}
    with sleuth.watch(experiments=0):
        steps |= {"unmodified" + way: training(width, **options) for way, options in ways.items()}
        times: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(ROUNDS):
            for name, once in steps.items():
                times[name].append(seconds(once))

    def ratio(name: str, to: str) -> float:
        """Round by round, since other work on the machine comes and goes."""
        return round(statistics.median(a / b for a, b in zip(times[name], times[to], strict=True)), 3)

    return {
        "bare_milliseconds": round(statistics.median(times["bare"]) * 1e3, 3),
        "bare_again": ratio("again", "bare"),
        "unmodified": ratio("unmodified", "bare"),
        "unmodified_donating": ratio("unmodified, donating", "bare, donating"),
        "unmodified_returning_the_loss": ratio("unmodified, loss", "bare, loss"),
    }


def main() -> None:
    result = {
        "about": {"jax": jax.__version__, "optax": optax.__version__, "rounds": ROUNDS, "steps": STEPS},
        "measured": "process-CPU time of a step relative to the bare step in the same round, median of the rounds",
        **{name: measure(width) for name, width in WIDTHS.items()},
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
