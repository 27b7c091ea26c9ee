"""`sleuth dry` on JAX and optax: bugs at their lines with the history of shapes, and their twins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jax")

COLUMN = "dry_jax"
COMMAND = ("dry", "--no-corners")
FRAMEWORK = ("torch._dynamo", "jax", "optax", "sleuth.dry.rehearsal")
PROGRAMS = Path(__file__).parent / "programs" / "dry_jax"


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr


def test_a_healthy_program_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "rehearsed to its end" in ran.stderr


def test_the_history_goes_from_the_arguments_line_by_line(run: Any) -> None:
    ran = run((PROGRAMS / "second_layer.py").read_text())
    (finding,) = ran.findings
    assert finding["title"] == "matmul cannot take hidden (16, 32) and params['w2'] (30, 10)"
    assert [(link["what"], link["place"] and link["place"]["line"]) for link in finding["chain"]] == [
        ("the argument images: (16, 8, 8) float32", None),
        ("reshape: (16, 8, 8) → (16, 64)", 19),
        ("hidden: (16, 64) → (16, 32)", 20),
        ("the argument params['w2']: (30, 10) float32", None),
    ]
    assert finding["fixes"][0]["title"] == "make params['w2'] (32, 10), or give it 30 features instead"


BIG = """
import jax, jax.numpy as jnp, optax

params = [jnp.zeros((2048, 2048)) for _ in range(8)]
optimizer = optax.adam(1e-3)
state = optimizer.init(params)

@jax.jit
def step(params, state, x):
    def loss_of(params):
        h = x
        for w in params:
            h = jax.nn.relu(h @ w)
        return jnp.mean((h @ jnp.zeros(({width}, 1))) ** 2)

    loss, grads = jax.value_and_grad(loss_of)(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state, loss

for number in range(1000):
    params, state, loss = step(params, state, jnp.zeros((4096, 2048)))
print(float(loss))
"""


def test_a_step_too_big_to_run_is_answered_with_zeros_and_said(run: Any) -> None:
    ran = run(BIG.format(width=2048))
    assert (ran.named, ran.status) == ([], 0), ran.stderr
    assert "step is too big to run here: its results are zeros of the right shape" in ran.stderr


def test_its_shapes_are_rehearsed_all_the_same(run: Any) -> None:
    assert run(BIG.format(width=1024)).named == [("shape-mismatch", 14)]


def test_a_device_that_is_not_there_is_a_hint_and_the_rehearsal_goes_on(run: Any) -> None:
    ran = run("import jax\nx = jax.device_put(1.0, jax.devices('gpu')[0])\nprint(x + 1)\n")
    assert ran.named == [("hard-coded-cuda", 2)], ran.stderr
    assert (ran.findings[0]["certainty"], ran.findings[0]["severity"], ran.status) == ("hint", "note", 0)
    assert "rehearsed to its end" in ran.stderr
