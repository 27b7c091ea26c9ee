"""Keras on JAX: each jitted training step gives, beside its logs, the few numbers and arrays that the rules need."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import jax
import numpy as np

from sleuth.live.jax import differentiated, stepping
from sleuth.live.jax.listing import Op
from sleuth.live.jax.recorder import Recorder, Variant
from sleuth.live.jax.stepping import STEP, is_due
from sleuth.live.keras import making

_OURS = "sleuth"
# Rows wait for this many steps before they are read, so that the program need not wait for each of its steps.
_UNREAD = 16
_MOST_KEPT = 8 << 20


class OnJax:
    """Watches one `fit`."""

    def __init__(self, model: Any, watch: Any, fit_line: making.Line | None) -> None:
        self._model, self._watch, self._fit_line = model, watch, fit_line
        self._layers = making.layers(model)
        self._unread: deque[tuple[int, Any, Any, Variant | None]] = deque()
        self._applied: list[tuple[Any, Any, Any]] = []
        self._variant: Variant | None = None
        self._count = 0
        optimizer = model.optimizer
        names = tuple(making.name_of(v) for v in model.trainable_variables)
        self.recorder = Recorder(
            watch,
            making.place(optimizer),
            type(optimizer).__name__,
            making.settings(optimizer),
            lambda step: math.nan,
            _AsFunctions(optimizer, model),
            self._relocate,
            names,
        )
        watch.host.guests.append(self.recorder)

    def begin(self) -> None:
        model = self._model
        self.recorder.bench.first_weights([np.array(v) for v in model.trainable_variables])
        step = model.train_step
        apply = model.optimizer.stateless_apply

        def stateless_apply(optimizer_variables: Any, grads: Any, trainable_variables: Any) -> Any:
            result = apply(optimizer_variables, grads, trainable_variables)
            self._applied.append((list(grads), list(trainable_variables), list(result[0])))
            return result

        def train_step(state: Any, data: Any) -> Any:
            differentiated.calls.clear()
            self._applied.clear()
            logs, after = step(state, data)
            try:
                logs = {**logs, _OURS: self._numbers()}
            except Exception as error:
                self.recorder.fail(error)
            return logs, after

        object.__setattr__(model, "train_step", train_step)
        object.__setattr__(model.optimizer, "stateless_apply", stateless_apply)
        model.make_train_function(force=True)
        function = model.train_function

        def train_function(state: Any, iterator: Any) -> Any:
            logs, after = function(state, iterator)
            self._left(logs.pop(_OURS, None))
            return logs, after

        model.train_function = train_function

    def end(self) -> None:
        model = self._model
        for owner, name in ((model, "train_step"), (model.optimizer, "stateless_apply")):
            owner.__dict__.pop(name, None)
        model.train_function = None
        self._read()

    # In the trace

    def _numbers(self) -> Any:
        if len(self._applied) != 1:
            return None
        given, before, after = self._applied[0]
        found = differentiated.behind(given)
        call, fresh = found if found is not None else (None, None)
        self.recorder.has_loss = call is not None
        updates = [b - a for a, b in zip(before, after, strict=True)]
        row = stepping.row(0, call.value if call is not None else None, given, fresh, updates)
        self.recorder.step_place = self.recorder.run.backward_place
        if call is None:
            return row, ()
        self._variant, moving = self.recorder.variant(call, fresh)
        differentiated.calls.clear()
        kept = tuple(moving) if sum(v.size * v.dtype.itemsize for v in moving) <= _MOST_KEPT else ()
        return row, kept

    def _relocate(self, op: Op) -> making.Line | None:
        """A layer of Keras's own does its work at the line that made it, not at the one that called fit."""
        if op.line is not None and op.line != self._fit_line:
            return op.line
        for part in reversed(op.scope.replace("(", "/").replace(")", "/").split("/")):
            if part in self._layers and (line := making.line(self._layers[part])) is not None:
                return line
        return self._fit_line

    @property
    def went_bad(self) -> bool:
        return self.recorder.told_bad

    # Between the steps

    def _left(self, told: Any) -> None:
        step, self._count = self._count, self._count + 1
        if told is None or self.recorder.off:
            return
        self._unread.append((step, told[0], told[1], self._variant))
        if len(self._unread) >= _UNREAD or is_due(step):
            self._read()

    def _read(self) -> None:
        try:
            self.recorder.rate_now = _rate(self._model.optimizer, self._count)
            while self._unread:
                step, row, kept, newest = self._unread.popleft()
                numbers = np.array(row)
                numbers[STEP] = step
                variant = self.recorder.variant_for(kept) if kept else newest
                self.recorder.heard(numbers, variant, variant.inputs(kept) if kept and variant is not None else None)
        except Exception as error:
            self.recorder.fail(error)


def _rate(optimizer: Any, step: int) -> float:
    schedule: Any = getattr(optimizer, "_learning_rate", None)
    try:
        return float(schedule(step)) if callable(schedule) else float(np.asarray(schedule.value))
    except Exception:
        return math.nan


class _AsFunctions:
    """A Keras optimiser as the pair (init, update) that experiments use."""

    def __init__(self, optimizer: Any, model: Any) -> None:
        self._optimizer = optimizer
        if not optimizer.built:
            optimizer.build(model.trainable_variables)
        self._first = [np.array(v) for v in optimizer.variables]

    def init(self, weights: Any) -> Any:
        return [jax.numpy.asarray(value) for value in self._first]

    def update(self, gradients: Any, state: Any, weights: Any) -> tuple[Any, Any]:
        apply = type(self._optimizer).stateless_apply
        after, state = apply(self._optimizer, state, list(gradients), list(weights))
        return [b - a for a, b in zip(weights, after, strict=True)], state
