"""Cheap experiments on a clone of a Keras model, with batches kept from the looks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import keras
import numpy as np

from sleuth.live.signals import Run, Trial

_BATCHES = 14
_MOST_BYTES = 64 << 20
_MOST_PARAMETERS = 20_000_000
PROBE_STEPS = 40
BY_HEART_STEPS = 150


class Bench:
    """A Laboratory for one `fit`."""

    def __init__(self, model: Any, run: Run, seconds: float) -> None:
        self._model, self._run, self._left = model, run, seconds
        self._batches: list[tuple[Any, Any]] = []
        self._bytes = 0
        self._trials: dict[Any, Any] = {}
        self._deadline = math.inf
        small = model.count_params() < _MOST_PARAMETERS
        self._first = model.get_weights() if small and seconds > 0 else None

    def offer(self, data: Any, loss: float) -> None:
        """A look at a step: keep its batch."""
        if self._first is None or len(self._batches) >= _BATCHES or not isinstance(data, tuple | list) or len(data) < 2:
            return
        if any(part is not None for part in data[2:]):
            return
        batch = tuple(keras.tree.map_structure(lambda v: np.array(keras.ops.convert_to_numpy(v)), p) for p in data[:2])
        self._bytes += sum(part.nbytes for part in keras.tree.flatten(batch))
        if self._bytes < _MOST_BYTES:
            self._batches.append(batch)

    def one_batch(self) -> Trial | None:
        found: Trial | None = self._once("one batch", self._by_heart)
        return found

    def _by_heart(self) -> Trial | None:
        best: tuple[float, float] | None = None
        for rate in (1e-3, 1e-2):
            losses = self._train(self._batches[-1:], BY_HEART_STEPS, keras.optimizers.Adam(rate), 0.3)
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
        if len(self._batches) < 2 or not self._run.optimizers:
            return None
        rate = factor * self._run.optimizers[0].highest_rate
        settings = keras.optimizers.serialize(self._model.optimizer)
        settings["config"]["learning_rate"] = rate
        losses = self._train(self._batches, PROBE_STEPS, keras.optimizers.deserialize(settings))
        if not losses:
            return None
        window = max(1, min(len(self._batches), len(losses) // 3))
        start, end = sum(losses[:window]) / window, sum(losses[-window:]) / window
        return Trial(f"lr × {factor:g}", start, end, f"lr = {rate:.3g}: the loss goes from {start:.4g} to {end:.4g}")

    def unseen(self) -> Trial | None:
        found: Trial | None = self._once("unseen", self._carry_over)
        return found

    def _carry_over(self) -> Trial | None:
        if len(self._batches) < 6:
            return None
        train, test = self._batches[:-3], self._batches[-3:]
        model = self._copy(keras.optimizers.Adam(3e-3))
        before, best = _mean_loss(model, test), math.inf
        for _round in range(8):
            for x, y in train:
                if time.monotonic() > self._deadline:
                    return None
                model.train_on_batch(x, y)
            best = min(best, _mean_loss(model, test))
        chance = self._run.chance
        floor = min(before, chance) if chance is not None else before
        return Trial(
            "unseen", floor, best, f"trained on some batches, its loss on others goes from {before:.4g} to {best:.4g}"
        )

    def _once(self, key: Any, experiment: Callable[[], Any]) -> Any:
        if key not in self._trials:
            self._trials[key] = self._guarded(experiment) if self._left > 0 and self._batches else None
        return self._trials[key]

    def _guarded(self, experiment: Callable[[], Any]) -> Any:
        from sleuth.live.snapshot import RandomStates

        random, started = RandomStates().take(), time.monotonic()
        self._deadline = started + self._left
        try:
            import torch

            with torch.enable_grad():
                return experiment()
        except Exception:
            # The copy could not do what the model does: then there is no experiment, and no harm.
            return None
        finally:
            random.restore()
            self._left -= time.monotonic() - started

    def _copy(self, optimizer: Any) -> Any:
        model = keras.models.clone_model(self._model)
        model.set_weights(self._first)
        model.compile(optimizer=optimizer, loss=self._model.loss)
        return model

    def _train(
        self, batches: list[tuple[Any, Any]], steps: int, optimizer: Any, enough: float = -math.inf
    ) -> list[float] | None:
        """The losses on the way; none where the time is up. `enough` is a share of the first loss."""
        model = self._copy(optimizer)
        losses: list[float] = []
        for number in range(steps):
            if time.monotonic() > self._deadline:
                return None
            x, y = batches[number % len(batches)]
            model.reset_metrics()
            losses.append(float(model.train_on_batch(x, y)))
            if not math.isfinite(losses[-1]) or losses[-1] < enough * abs(losses[0]):
                break
        return losses


def _mean_loss(model: Any, batches: list[tuple[Any, Any]]) -> float:
    total = 0.0
    for x, y in batches:
        model.reset_metrics()
        total += float(model.test_on_batch(x, y))
    return total / len(batches)
