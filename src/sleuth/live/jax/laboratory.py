"""Cheap experiments on copies of the weights, with batches kept from the looks.

Nothing of the program is touched: a loss is a pure function here, and so is a step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from sleuth.live.jax.differentiated import original
from sleuth.live.jax.recipe import Recipe
from sleuth.live.signals import Run, Trial

_BATCHES = 14
_MOST_BYTES = 64 << 20
_MOST_WEIGHTS = 80 << 20
PROBE_STEPS = 40
BY_HEART_STEPS = 150


class _Adam:
    """Our own optimiser for the experiments, so that no library is needed for it."""

    def __init__(self, rate: float) -> None:
        self._rate = rate

    def init(self, weights: Any) -> Any:
        nothing = jax.tree.map(jnp.zeros_like, weights)
        return jnp.zeros((), jnp.int32), nothing, nothing

    def update(self, gradients: Any, state: Any, weights: Any) -> tuple[Any, Any]:
        step, mean, square = state
        step = step + 1
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradients)
        scale = self._rate * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        return jax.tree.map(lambda m, s: -scale * m / (jnp.sqrt(s) + 1e-8), mean, square), (step, mean, square)


class Bench:
    """A Laboratory for one run. `inner` is the program's own optimiser, as (init, update)."""

    def __init__(self, run: Run, inner: Any, seconds: float) -> None:
        self._run = run
        self._inner = inner
        self._left = seconds
        self._recipe: Recipe | None = None
        self._batches: list[list[Any]] = []
        self._bytes = 0
        self._first: list[Any] | None = None
        self._trials: dict[Any, Any] = {}
        self._steps: dict[Any, Any] = {}

    def first_weights(self, leaves: Sequence[Any]) -> None:
        """Copied, since a step may be given the arrays for its own."""
        if self._left > 0 and sum(leaf.nbytes for leaf in leaves if hasattr(leaf, "nbytes")) < _MOST_WEIGHTS:
            self._first = [jnp.array(leaf) for leaf in leaves]

    def offer(self, recipe: Recipe, inputs: Sequence[Any], loss: float) -> None:
        """A look at a step: keep its batch."""
        if self._left <= 0 or len(self._batches) >= _BATCHES or (self._recipe or recipe) is not recipe:
            return
        data = [None if i in recipe.weights else jnp.array(value) for i, value in enumerate(inputs)]
        self._bytes += sum(value.nbytes for value in data if value is not None)
        if self._bytes > _MOST_BYTES:
            return
        if self._first is None:
            self.first_weights([inputs[i] for i in recipe.weights])
        self._recipe = recipe
        self._batches.append(data)

    # Experiments

    def one_batch(self) -> Trial | None:
        found: Trial | None = self._once("one batch", self._by_heart)
        return found

    def _by_heart(self) -> Trial | None:
        if not self._batches:
            return None
        best: tuple[float, float] | None = None
        for rate in (1e-3, 1e-2):
            losses = self._train(self._batches[-1:], BY_HEART_STEPS, _Adam(rate), enough=0.3)
            if losses and math.isfinite(losses[-1]) and (best is None or losses[-1] < best[1]):
                best = (losses[0], losses[-1])
            if best is not None and best[1] < 0.3 * abs(best[0]):
                break
        if best is None:
            return None
        says = f"a copy of the model learns one batch by heart: its loss goes from {best[0]:.4g} to {best[1]:.4g}"
        return Trial("one batch", *best, says)

    def rates(self, factors: Iterable[float]) -> dict[float, Trial] | None:
        found: dict[float, Trial] = {}
        for factor in factors:
            trial: Trial | None = self._once(("rate", factor), partial(self._probe_rate, factor))
            if trial is None:
                return None
            found[factor] = trial
        return found

    def _probe_rate(self, factor: float) -> Trial | None:
        if len(self._batches) < 2:
            return None
        losses = self._train(self._batches, PROBE_STEPS, self._inner, factor)
        if not losses:
            return None
        window = max(1, min(len(self._batches), len(losses) // 3))
        start, end = sum(losses[:window]) / window, sum(losses[-window:]) / window
        rate = factor * (self._run.optimizers[0].highest_rate if self._run.optimizers else math.nan)
        return Trial(f"lr × {factor:g}", start, end, f"lr = {rate:.3g}: the loss goes from {start:.4g} to {end:.4g}")

    def unseen(self) -> Trial | None:
        found: Trial | None = self._once("unseen", self._carry_over)
        return found

    def _carry_over(self) -> Trial | None:
        if len(self._batches) < 6 or self._first is None or self._recipe is None:
            return None
        train, test = self._batches[:-3], self._batches[-3:]
        weights = list(self._first)
        optimizer = _Adam(3e-3)
        state = optimizer.init(jax.tree.unflatten(self._recipe.structure, weights))
        before, best = self._mean_loss(weights, test), math.inf
        for _round in range(8):
            for batch in train:
                if self._late():
                    return None
                _, weights, state = self._step(optimizer, "unseen")(weights, state, batch, 1.0)
            best = min(best, self._mean_loss(weights, test))
        chance = self._run.chance
        floor = min(before, chance) if chance is not None else before
        return Trial(
            "unseen", floor, best, f"trained on some batches, its loss on others goes from {before:.4g} to {best:.4g}"
        )

    def cut_short(self) -> None:
        self._left = self._deadline = 0.0

    def _once(self, key: Any, experiment: Callable[[], Any]) -> Any:
        if key not in self._trials:
            self._trials[key] = self._guarded(experiment) if self._left > 0 else None
        return self._trials[key]

    def _guarded(self, experiment: Callable[[], Any]) -> Any:
        started = time.monotonic()
        self._deadline = started + self._left
        try:
            return experiment()
        except Exception:
            # The copy could not do what the program does: then there is no experiment, and no harm.
            return None
        finally:
            self._left -= time.monotonic() - started

    def _late(self) -> bool:
        return time.monotonic() > self._deadline

    def _train(
        self, batches: list[list[Any]], steps: int, optimizer: Any, factor: float = 1.0, enough: float = -math.inf
    ) -> list[float] | None:
        """The losses on the way; none where the time is up. `enough` is a share of the first loss."""
        if self._first is None or self._recipe is None:
            return None
        weights, losses = list(self._first), list[float]()
        state = optimizer.init(jax.tree.unflatten(self._recipe.structure, weights))
        step = self._step(optimizer, id(optimizer))
        for number in range(steps):
            if self._late():
                return None
            loss, weights, state = step(weights, state, batches[number % len(batches)], factor)
            losses.append(float(loss))
            if not math.isfinite(losses[-1]) or losses[-1] < enough * abs(losses[0]):
                break
        return losses

    def _step(self, optimizer: Any, key: Any) -> Any:
        recipe = self._recipe
        if key not in self._steps and recipe is not None:
            differentiate = original("value_and_grad")(recipe.loss_of)

            def step(weights: Any, state: Any, batch: Any, factor: float) -> Any:
                loss, gradients = differentiate(weights, batch)
                tree, given = (jax.tree.unflatten(recipe.structure, leaves) for leaves in (weights, gradients))
                updates, state = optimizer.update(given, state, tree)
                pairs = zip(weights, jax.tree.leaves(updates), strict=True)
                return loss, [w + (factor * u).astype(w.dtype) for w, u in pairs], state

            self._steps[key] = original("jit")(step)
        return self._steps[key]

    def _mean_loss(self, weights: Any, batches: list[list[Any]]) -> float:
        if "loss" not in self._steps and self._recipe is not None:
            self._steps["loss"] = original("jit")(self._recipe.loss_of)
        return sum(float(self._steps["loss"](weights, batch)) for batch in batches) / len(batches)
