"""An optax loop: the same five bugs at their lines, their twins, healthy loops, and weights left alone."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("optax")

COLUMN = "optax"
FRAMEWORK = ("jax", "optax")
# A program and its twin compile to nearly the same: once is enough.
CACHE = {
    "JAX_COMPILATION_CACHE_DIR": tempfile.mkdtemp(prefix="sleuth-jax-"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
SETTINGS = CACHE
PROGRAMS = Path(__file__).parent / "programs" / "optax"


def test_the_bug_is_named_with_its_line(bug: Any, run: Any) -> None:
    ran = run(bug.source)
    assert ran.named == [bug.found], ran.stderr
    assert ran.status == 1


def test_the_twin_with_that_line_mended_is_silent(bug: Any, run: Any) -> None:
    ran = run(bug.mended)
    assert (ran.named, ran.status) == ([], 0), ran.stderr


def test_a_healthy_loop_is_silent(healthy: Any, run: Any) -> None:
    ran = run(healthy.source)
    assert (ran.named, ran.status) == ([], 0), ran.stderr


def test_a_nan_is_traced_to_the_operation_the_step_and_what_it_was_given(run: Any) -> None:
    (finding,) = run((PROGRAMS / "nan_loss.py").read_text()).findings
    evidence = {item["name"]: item["value"] for item in finding["evidence"]}
    assert (evidence["operation"], evidence["input minimum"], finding["step"]) == ("a division", 0, 10)


def test_a_program_run_by_python_prints_its_report_at_its_end(run: Any) -> None:
    ran = run((PROGRAMS / "missing_zero_grad.py").read_text(), watched=False)
    assert ran.stdout.splitlines()[1].startswith("1 ")
    assert "error[missing-zero-grad]" in ran.stderr


NAN_IN_THE_GRADIENT_ALONE = """
import jax, jax.numpy as jnp, numpy as np, optax
from sleuth.integrations.optax import watched

tx = watched(optax.sgd(0.1))
w = jnp.zeros((4, 3))
state = tx.init(w)

@jax.jit
def step(w, state, x):
    loss, grads = jax.value_and_grad(lambda w: jnp.sqrt(((x @ w) ** 2).sum(1)).mean())(w)
    updates, state = tx.update(grads, state)
    return optax.apply_updates(w, updates), state, loss

for i in range(4):
    w, state, loss = step(w, state, np.ones((8, 4), np.float32))
"""


def test_a_gradient_that_is_not_finite_is_traced_to_the_forward_line(run: Any) -> None:
    ran = run(NAN_IN_THE_GRADIENT_ALONE)
    assert ran.named == [("norm-gradient-at-zero", 11)], ran.stderr
    assert ran.findings[0]["step"] == 0


INSIDE = """
import jax.numpy as jnp, optax
from sleuth.integrations.optax import watched
tx = watched(optax.inject_hyperparams(optax.sgd)(learning_rate=0.1))
state = tx.init({"w": jnp.ones(2)})
print(isinstance(state, optax.InjectStatefulHyperparamsState), float(state.hyperparams["learning_rate"]))
"""


def test_the_state_answers_for_the_optimisers_own(run: Any) -> None:
    assert run(INSIDE, watched=False).stdout.splitlines()[0].startswith("True 0.1")


TRAIN = """
import hashlib, json
import jax, jax.numpy as jnp, numpy as np, optax
from sleuth.integrations.optax import watched
rng = np.random.default_rng(0)
x = rng.normal(size=(512, 20)).astype(np.float32)
y = rng.integers(0, 5, 512)

def train(inner, donate, jit):
    keys = np.random.default_rng(1)
    params = {"w1": keys.normal(size=(20, 64)) / 5, "b1": np.zeros(64), "w2": keys.normal(size=(64, 5)) / 8}
    params = jax.tree.map(lambda v: jnp.asarray(v, jnp.float32), params)
    tx = watched(inner)
    state = tx.init(params)
    def loss_fn(p, x, y, key):
        h = jax.nn.gelu(x @ p["w1"] + p["b1"]) * jax.random.bernoulli(key, 0.9, (len(x), 64))
        return optax.softmax_cross_entropy_with_integer_labels(h @ p["w2"], y).mean()
    def step(params, state, x, y, key):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y, key)
        updates, state = tx.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss
    step = jax.jit(step, donate_argnums=(0, 1) if donate else ()) if jit else step
    key = jax.random.key(0)
    for i in range(60 if jit else 3):
        key, now = jax.random.split(key)
        some = np.arange(32 * i, 32 * i + 32) % 512
        if i == 50:
            some = some[:17]
        params, state, loss = step(params, state, x[some], y[some], now)
    return hashlib.sha256(b"".join(np.asarray(v).tobytes() for v in jax.tree.leaves(params))).hexdigest()

print(json.dumps([
    train(optax.adamw(1e-3), False, True),
    train(optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9)), True, True),
    train(optax.adam(1e-3), False, False),
]))
"""


def test_weights_are_bitwise_the_same_with_and_without_a_watch(run: Any) -> None:
    bare = TRAIN.replace("from sleuth.integrations.optax import watched", "watched = lambda tx: tx")
    hashes = [json.loads(run(source, watched=False).stdout.splitlines()[0]) for source in (TRAIN, bare)]
    assert len(set(hashes[0])) == 3
    assert hashes[0] == hashes[1]
