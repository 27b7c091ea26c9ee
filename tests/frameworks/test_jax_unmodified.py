"""JAX as people write it, under `sleuth run`, nothing changed: optax, Flax, Equinox, Haiku, loops, and by hand."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jax")

FRAMEWORK = ("jax", "optax", "flax", "flax.nnx", "equinox", "haiku")
STEPS = 40
HEAD = f"""
import jax
import jax.numpy as jnp
import optax

STEPS = {STEPS}
key = jax.random.key(0)
x = jax.random.normal(key, (256, 4))
y = x @ jnp.array([1.0, -2.0, 0.5, 0.0]) + 0.1
"""
WAYS = {
    "optax, jitted": """
params = {"w": jnp.zeros(4), "b": jnp.zeros(())}
tx = optax.adam(1e-1)
state = tx.init(params)

def loss_of(params, x, y):
    return LOSS(x @ params["w"] + params["b"] - y)

@jax.jit
def step(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = tx.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, loss

for _ in range(STEPS):
    params, state, loss = step(params, state, x, y)
""",
    "optax, eager": """
params = jnp.zeros(4)
tx = optax.sgd(1e-1)
state = tx.init(params)
for _ in range(STEPS):
    gradients = jax.grad(lambda w: LOSS(x @ w - y))(params)
    updates, state = tx.update(gradients, state)
    params = optax.apply_updates(params, updates)
loss = LOSS(x @ params - y)
""",
    "a scan": """
params = jnp.zeros(4)
tx = optax.adam(1e-1)

def body(carry, _):
    params, state = carry
    loss, gradients = jax.value_and_grad(lambda w: LOSS(x @ w - y))(params)
    updates, state = tx.update(gradients, state)
    return (optax.apply_updates(params, updates), state), loss

(params, state), losses = jax.jit(lambda carry: jax.lax.scan(body, carry, None, STEPS))((params, tx.init(params)))
loss = losses[-1]
""",
    "flax linen": """
import flax.linen as nn
from flax.training.train_state import TrainState

model = nn.Dense(1)
state = TrainState.create(apply_fn=model.apply, params=model.init(key, x), tx=optax.adam(1e-1))

@jax.jit
def step(state, x, y):
    loss, gradients = jax.value_and_grad(lambda p: LOSS(state.apply_fn(p, x)[:, 0] - y))(state.params)
    return state.apply_gradients(grads=gradients), loss

for _ in range(STEPS):
    state, loss = step(state, x, y)
""",
    "flax nnx": """
from flax import nnx

model = nnx.Linear(4, 1, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.adam(1e-1), wrt=nnx.Param)

@nnx.jit
def step(model, optimizer, x, y):
    loss, gradients = nnx.value_and_grad(lambda model: LOSS(model(x)[:, 0] - y))(model)
    optimizer.update(model, gradients)
    return loss

for _ in range(STEPS):
    loss = step(model, optimizer, x, y)
""",
    "equinox": """
import equinox as eqx

model = eqx.nn.Linear(4, 1, key=key)
tx = optax.adam(1e-1)
state = tx.init(eqx.filter(model, eqx.is_array))

@eqx.filter_jit
def step(model, state, x, y):
    loss, gradients = eqx.filter_value_and_grad(lambda m: LOSS(jax.vmap(m)(x)[:, 0] - y))(model)
    updates, state = tx.update(gradients, state)
    return eqx.apply_updates(model, updates), state, loss

for _ in range(STEPS):
    model, state, loss = step(model, state, x, y)
""",
    "haiku": """
import haiku as hk

model = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(1)(x)))
params = model.init(key, x)
tx = optax.adam(1e-1)
state = tx.init(params)

@jax.jit
def step(params, state, x, y):
    loss, gradients = jax.value_and_grad(lambda p: LOSS(model.apply(p, x)[:, 0] - y))(params)
    updates, state = tx.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss

for _ in range(STEPS):
    params, state, loss = step(params, state, x, y)
""",
    "by hand": """
params = jnp.zeros(4)

@jax.jit
def step(params, x, y):
    loss, gradients = jax.value_and_grad(lambda w: LOSS(x @ w - y))(params)
    return params - 1e-1 * gradients, loss

for _ in range(STEPS):
    params, loss = step(params, x, y)
""",
}
# To the last bit: the loss, and all that was trained.
TAIL = """
import hashlib, numpy
trained = [numpy.asarray(leaf).tobytes() for leaf in jax.tree.leaves(TRAINED) if hasattr(leaf, "dtype")]
print(float(loss).hex(), len(trained), hashlib.sha256(b"".join(trained)).hexdigest())
"""
TRAINED = {"flax linen": "state.params", "flax nnx": "nnx.state(model, nnx.Param)", "equinox": "model"}
HEALTHY = "def LOSS(error):\n    return jnp.square(error).mean()\n"


def program(way: str, loss: str) -> str:
    return HEAD + loss + WAYS[way] + TAIL.replace("TRAINED", TRAINED.get(way, "params"))


@pytest.mark.parametrize("way", WAYS)
def test_a_nan_is_told_with_its_line(way: str, run: Any) -> None:
    source = program(way, "def LOSS(error):\n    return jnp.log(-jnp.square(error) - 1.0).mean()\n")
    ran = run(source)
    line = source.splitlines().index("    return jnp.log(-jnp.square(error) - 1.0).mean()") + 1
    assert ran.named == [("log-of-negative", line)], ran.stderr


@pytest.mark.parametrize("way", WAYS)
def test_a_healthy_loop_is_seen_and_its_results_are_the_same_to_the_last_bit(way: str, run: Any) -> None:
    source = program(way, HEALTHY)
    ran, plain = run(source), run(source, watched=False)
    assert ran.named == [], ran.stderr
    assert f"nothing found in {STEPS} steps" in ran.stderr
    assert ran.stdout == plain.stdout
    assert plain.stdout


# Not every step is told in full, and this one is not: what it did is found by doing it again.
BAD = 37
BETWEEN = {
    "donated, the loss not returned": """
@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, state, key, limit):
    key, now = jax.random.split(key)
    gradients = jax.grad(loss_of)(params, limit, now)
    updates, state = tx.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, key

for _ in range(STEPS):
    params, state, key = step(params, state, key, next(limits))
""",
    "gradients and updates apart": """
gradients_of = jax.jit(jax.value_and_grad(loss_of))

@jax.jit
def apply(params, state, gradients):
    updates, state = tx.update(gradients, state, params)
    return optax.apply_updates(params, updates), state

for _ in range(STEPS):
    loss, gradients = gradients_of(params, next(limits), key)
    params, state = apply(params, state, gradients)
""",
    "two steps a call": """
@jax.jit
def step(params, state, limit, key):
    for i in range(2):
        loss, gradients = jax.value_and_grad(loss_of)(params, limit * i, key)
        updates, state = tx.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
    return params, state, loss

for _ in range(STEPS // 2):
    next(limits)
    limit = next(limits).copy()
    params, state, loss = step(params, state, limit, key)
""",
    "a loop outside of jit, no losses": """
def body(i, carry):
    params, state = carry
    gradients = jax.grad(loss_of)(params, every[i], key)
    updates, state = tx.update(gradients, state, params)
    return optax.apply_updates(params, updates), state

every = jnp.array([next(limits).copy() for _ in range(STEPS)])
params, state = jax.lax.fori_loop(0, STEPS, body, (params, state))
""",
    "loops in a loop, again and again": """
def body(carry, limit):
    params, state = carry
    loss, gradients = jax.value_and_grad(loss_of)(params, limit, key)
    updates, state = tx.update(gradients, state, params)
    return (optax.apply_updates(params, updates), state), loss

epochs = jax.jit(lambda carry, limits: jax.lax.scan(lambda c, some: jax.lax.scan(body, c, some), carry, limits))
every = jnp.array([next(limits).copy() for _ in range(STEPS)]).reshape(2, 4, STEPS // 8)
for some in every:
    (params, state), losses = epochs((params, state), some)
""",
}
PLANTED = """
import functools
import numpy as np

params = {"w": jnp.zeros(4), "b": jnp.zeros(())}
tx = optax.adam(1e-1)
state, loss = tx.init(params), 0.0

def loss_of(params, limit, key):
    seen = x * jax.random.bernoulli(key, 0.9, x.shape)
    return jnp.sqrt(limit + jnp.square(seen @ params["w"] + params["b"] - y).mean())

def dealt():
    limit = np.zeros((), np.float32)
    for step in range(STEPS):
        jax.block_until_ready(params)
        limit[...] = -1e6 if step == BAD else 0.0  # the same array, filled anew
        yield limit

limits = dealt()
"""


@pytest.mark.parametrize("way", BETWEEN)
def test_a_step_that_nobody_looked_at_is_found_again(way: str, run: Any) -> None:
    source = HEAD + PLANTED.replace("BAD", str(BAD)) + BETWEEN[way]
    ran = run(source)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "jnp.sqrt(limit" in text)
    assert ran.named == [("sqrt-of-negative", line)], ran.stderr
    assert ran.findings[0]["step"] == BAD


TRACED_ONCE = """
import random
import numpy as np

params, tx = {"w": jnp.zeros(4)}, optax.sgd(1e-1)
state = tx.init(params)
random.seed(0)
np.random.seed(0)

@jax.jit
def step(params, state, x, y):
    print("traced", random.random(), np.random.rand())
    PRINT
    loss, gradients = jax.value_and_grad(lambda p: LOSS(x @ p["w"] - y))(params)
    updates, state = tx.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss + np.random.rand()

for _ in range(STEPS):
    params, state, loss = step(params, state, x, y)
print(random.random(), np.random.rand())
"""


def test_what_the_program_prints_and_draws_while_it_is_traced_is_what_it_would_be(run: Any) -> None:
    source = HEAD + HEALTHY + TRACED_ONCE.replace("PRINT", "") + TAIL.replace("TRAINED", "params")
    ran, plain = run(source), run(source, watched=False)
    assert ran.stdout == plain.stdout
    assert f"nothing found in {STEPS} steps" in ran.stderr


def test_a_step_with_a_callback_is_not_done_twice_and_that_is_said(run: Any) -> None:
    told = "jax.debug.callback(lambda v: print('called', v), x[0, 0])"
    source = HEAD + HEALTHY + TRACED_ONCE.replace("PRINT", told) + TAIL.replace("TRAINED", "params")
    ran, plain = run(source), run(source, watched=False)
    assert ran.stdout == plain.stdout
    assert "only the loss that it returns is watched" in ran.stderr
    assert f"nothing found in {STEPS} steps" in ran.stderr


def test_a_function_that_may_be_traced_only_once_is_left_alone_and_that_is_said(run: Any) -> None:
    once = "assert not traced\n    traced.append(1)"
    source = HEAD + HEALTHY + "traced = []\n" + TRACED_ONCE.replace("PRINT", once) + TAIL.replace("TRAINED", "params")
    ran, plain = run(source), run(source, watched=False)
    assert ran.stdout == plain.stdout
    assert "step could not be traced a second time" in ran.stderr
