"""Cheap experiments on copies of a Keras model's weights, with batches kept from the looks."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import keras
import torch

from sleuth.live.keras.trainings import Purse
from sleuth.live.signals import Run, Trial
from sleuth.live.snapshot import RandomStates

_BATCHES = 14
_MOST_BYTES = 64 << 20
_MOST_PARAMETERS = 20_000_000
PROBE_STEPS = 40
BY_HEART_STEPS = 150

Batch = tuple[Any, Any, Any]


class Bench:
    """A Laboratory for one training: for a model that Keras trains in its own way, with one output and one loss.

    The model itself computes, but on weights of ours, and what it would change in itself is thrown away."""

    def __init__(self, model: Any, run: Run, purse: Purse) -> None:
        self._model, self._run, self._purse = model, run, purse
        self._batches: list[Batch] = []
        self._bytes = 0
        self._trials: dict[Any, Any] = {}
        self._deadline = math.inf
        self._states = RandomStates()
        self._first: list[Any] | None = None
        self._others: list[Any] = []
        if purse.left > 0 and is_trained_as_usual(model) and model.count_params() < _MOST_PARAMETERS:
            self._first = [v.value.detach().clone() for v in model.trainable_variables]
            self._others = [v.value.detach().clone() for v in model.non_trainable_variables]

    def optimizer(self, optimizer: Any) -> None:
        """Keras knows how to build another like it."""

    def close(self) -> None:
        self._model, self._first, self._others, self._batches = None, None, [], []

    def keep(self, data: Batch) -> None:
        """A look at a step: keep its batch."""
        y = data[1]
        if self._first is None or len(self._batches) >= _BATCHES or y is None or isinstance(y, list | tuple | dict):
            return
        batch = keras.tree.map_structure(lambda v: None if v is None else _copied(v), tuple(data))
        self._bytes += sum(part.nbytes for part in keras.tree.flatten(batch) if part is not None)
        if self._bytes < _MOST_BYTES:
            self._batches.append(batch)

    def offer(self, inspection: Any, lookout: Any) -> None:
        if len([one for one in lookout.look.losses if one.is_root]) == 1:
            self.keep(lookout.data)

    # Experiments

    def one_batch(self) -> Trial | None:
        found: Trial | None = self._once("one batch", self._by_heart)
        return found

    def _by_heart(self) -> Trial | None:
        best: tuple[float, float] | None = None
        for rate in (1e-3, 1e-2):
            losses = self._train(self._batches[-1:], BY_HEART_STEPS, keras.optimizers.Adam(rate, name="sleuth"), 0.3)
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
        copy = _Copy(self._model, self._first, self._others, keras.optimizers.Adam(3e-3, name="sleuth"))
        before, best = copy.mean_loss(test), math.inf
        for _round in range(8):
            for batch in train:
                if time.process_time() > self._deadline:
                    return None
                copy.step(batch)
            best = min(best, copy.mean_loss(test))
        chance = self._run.chance
        floor = min(before, chance) if chance is not None else before
        return Trial(
            "unseen", floor, best, f"trained on some batches, its loss on others goes from {before:.4g} to {best:.4g}"
        )

    def cut_short(self) -> None:
        self._purse.left = self._deadline = 0.0

    def _once(self, key: Any, experiment: Callable[[], Any]) -> Any:
        if key not in self._trials:
            self._trials[key] = self._guarded(experiment) if self._purse.left > 0 and self._batches else None
        return self._trials[key]

    def _guarded(self, experiment: Callable[[], Any]) -> Any:
        random, started = self._states.take(), time.process_time()
        self._deadline = started + self._purse.left
        try:
            with torch.enable_grad():
                return experiment()
        except Exception:
            # The copy could not do what the model does: then there is no experiment, and no harm.
            return None
        finally:
            random.restore()
            self._purse.left -= time.process_time() - started

    def _train(self, batches: list[Batch], steps: int, optimizer: Any, enough: float = -math.inf) -> list[float] | None:
        """The losses on the way; none where the time is up. `enough` is a share of the first loss."""
        copy = _Copy(self._model, self._first, self._others, optimizer)
        losses: list[float] = []
        for number in range(steps):
            if time.process_time() > self._deadline:
                return None
            losses.append(copy.step(batches[number % len(batches)]))
            if not math.isfinite(losses[-1]) or losses[-1] < enough * abs(losses[0]):
                break
        return losses


class _Copy:
    """Weights of our own, and an optimiser for them."""

    def __init__(self, model: Any, weights: Any, others: list[Any], optimizer: Any) -> None:
        self._model, self._optimizer = model, optimizer
        self._weights = [keras.Variable(w.clone(), name=f"sleuth_{i}") for i, w in enumerate(weights)]
        self._others = [value.clone() for value in others]
        optimizer.build(self._weights)

    def step(self, batch: Batch) -> float:
        weights = [v.value for v in self._weights]
        loss, self._others = self._loss(weights, batch, training=True)
        gradients = torch.autograd.grad(loss, weights, allow_unused=True)
        with torch.no_grad():
            self._optimizer.apply(list(gradients), self._weights)
        return float(loss.detach())

    def _loss(self, weights: list[Any], batch: Batch, training: bool) -> tuple[Any, list[Any]]:
        x, y, sample_weight = batch
        model, named = self._model, {"training": training} if self._model._call_has_training_arg else {}
        output, others, extra = model.stateless_call(weights, self._others, x, return_losses=True, **named)
        loss = model._compile_loss(y, output, sample_weight)
        return loss + sum(extra) if extra else loss, others

    def mean_loss(self, batches: list[Batch]) -> float:
        with torch.no_grad():
            weights = [v.value for v in self._weights]
            return sum(float(self._loss(weights, batch, training=False)[0]) for batch in batches) / len(batches)


def is_trained_as_usual(model: Any) -> bool:
    """Does Keras compute its loss and its step, and not the user's class?"""
    mine = keras.Model
    own = [
        getattr(type(model), name) is getattr(mine, name) for name in ("train_step", "compute_loss", "_compute_loss")
    ]
    return all(own) and getattr(model, "_compile_loss", None) is not None


def _copied(value: Any) -> Any:
    return keras.ops.convert_to_tensor(value).detach().clone()
