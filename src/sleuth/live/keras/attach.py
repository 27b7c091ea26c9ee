"""Where Sleuth listens in Keras: training steps, losses, updates and epochs, on the torch and JAX backends."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from typing import Any

import keras

from sleuth.live.keras import making
from sleuth.live.keras.losses import Heard
from sleuth.live.keras.trainings import Purse, Trainings
from sleuth.live.wraps import Wraps
from sleuth.program import users_frame

_attached: weakref.WeakKeyDictionary[Any, Ears] = weakref.WeakKeyDictionary()


def attach(watch: Any, library: str = "keras") -> Callable[[], None]:
    """From now on the watch hears how models of Keras train. Returns the way back."""
    return _ears(watch).remove


def of(watch: Any) -> Ears | None:
    """What a watch listens with, once it does."""
    return _attached.get(watch)


def _ears(watch: Any) -> Ears:
    known = _attached.get(watch)
    if known is None:
        known = _attached[watch] = Ears(watch)
        known.install()
    return known


class Ears:
    """All places in Keras that tell a watch."""

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self._wraps = Wraps()
        self._purse = Purse(watch.experiments)
        self._backend = keras.backend.backend()
        # For each model, its function for a step as we have it, and as Keras made it.
        self._functions: weakref.WeakKeyDictionary[Any, tuple[Any, Any]] = weakref.WeakKeyDictionary()
        self._line: making.Line | None = None
        self.trainings = Trainings(self._begin, counted_elsewhere=self._backend == "torch")

    def install(self) -> None:
        wrap, trainer = self._wraps.wrap, making.class_with("make_train_function")
        self._wraps.also_undo(making.listen())
        wrap(trainer, "make_train_function", self._around_make_train_function)
        if self._backend not in ("torch", "jax"):
            return
        wrap(keras.losses.Loss, "__call__", self._around_loss)
        wrap(keras.callbacks.CallbackList, "on_epoch_end", self._around_epoch_end)
        if self._backend == "torch":
            from sleuth.live import trace

            trace.layers_stand_at.append(making.stands_at)
            self._wraps.also_undo(lambda: trace.layers_stand_at.remove(making.stands_at))
            wrap(making.class_with("apply", keras.optimizers.Optimizer), "apply", self._around_apply)
        else:
            from sleuth.live.jax.attach import prepare

            prepare()
            base = making.class_with("stateless_apply", keras.optimizers.Optimizer)
            wrap(base, "stateless_apply", self._around_stateless_apply)
        self._watch.guests.append(self.trainings)

    def remove(self) -> None:
        self._wraps.remove()
        for model, (ours, plain) in list(self._functions.items()):
            # Also in the midst of a training: it goes on with the function that Keras made.
            if model.train_function is ours:
                model.train_function = plain
        self._functions.clear()

    def _begin(self, model: Any) -> Any:
        if self._backend == "jax":
            from sleuth.live.keras.on_jax import OnJax

            return OnJax(model, self._watch, self._line, self._purse, self.trainings)
        from sleuth.live.keras.on_torch import OnTorch

        return OnTorch(model, self._watch, self._line, self._purse)

    # Where Keras calls

    def _around_make_train_function(self, original: Any) -> Any:
        def make_train_function(model: Any, force: bool = False) -> Any:
            result = original(model, force)
            try:
                frame = users_frame(sys._getframe(1))
                self._line = (frame.f_code, frame.f_lasti) if frame is not None else None
                self._listen_to(model, lambda: original(model, True))
            except Exception as error:
                self._watch.failed(error)
            return result

        return make_train_function

    def _listen_to(self, model: Any, make: Callable[[], Any]) -> None:
        if self._backend == "torch":
            self._on_torch(model)
        elif self._backend == "jax":
            self._on_jax(model, make)
        else:
            self._watch.blind(f"Keras on {_title(self._backend)} is not watched yet")

    def _on_jax(self, model: Any, make: Callable[[], Any]) -> None:
        training = self.trainings.of(model)
        if not training.off and not training.made(model.train_function):
            _, plain = self._functions.get(model, (None, model.train_function))
            training.make_function(make)
            self._functions[model] = model.train_function, plain

    def _on_torch(self, model: Any) -> None:
        function = model.train_function
        if function is None or isinstance(function, Listening) or model._should_torch_compile():
            return
        model.train_function = Listening(function, model, self.trainings, self._watch)
        self._functions[model] = model.train_function, function

    def _around_apply(self, original: Any) -> Any:
        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
            training = self.trainings.under_way
            if training is None or training.off or (trainable_variables is None and not optimizer.built):
                return original(optimizer, grads, trainable_variables)
            grads = list(grads)
            variables = list(trainable_variables) if trainable_variables is not None else None
            known = variables if variables is not None else optimizer._trainable_variables
            return training.applied(optimizer, lambda: original(optimizer, grads, variables), grads, known)

        return apply

    def _around_stateless_apply(self, original: Any) -> Any:
        def stateless_apply(optimizer: Any, optimizer_variables: Any, grads: Any, trainable_variables: Any) -> Any:
            result = original(optimizer, optimizer_variables, grads, trainable_variables)
            training = self.trainings.under_way
            if training is not None:
                training.applied(grads, trainable_variables, result[0])
            return result

        return stateless_apply

    def _around_loss(self, original: Any) -> Any:
        return self._around_loss_on_jax(original) if self._backend == "jax" else self._around_loss_on_torch(original)

    def _around_loss_on_jax(self, original: Any) -> Any:
        def __call__(loss: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # noqa: N807
            training = self.trainings.under_way
            if training is None or training.off:
                return original(loss, y_true, y_pred, sample_weight)
            return training.loss_called(loss, original, y_true, y_pred, sample_weight)

        return __call__

    def _around_loss_on_torch(self, original: Any) -> Any:
        def __call__(loss: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:  # noqa: N807
            training = self.trainings.under_way
            if training is None or training.off:
                return original(loss, y_true, y_pred, sample_weight)
            mask = getattr(y_pred, "_keras_mask", None)
            try:
                result = original(loss, y_true, y_pred, sample_weight)
            except Exception:
                training.loss_called(Heard(loss, y_true, y_pred, sample_weight, None, mask))
                raise
            training.loss_called(Heard(loss, y_true, y_pred, sample_weight, result, mask))
            return result

        return __call__

    def _around_epoch_end(self, original: Any) -> Any:
        def on_epoch_end(callbacks: Any, epoch: int, logs: Any = None) -> Any:
            self._epoch_ended(callbacks, logs)
            return original(callbacks, epoch, logs)

        return on_epoch_end

    def _epoch_ended(self, callbacks: Any, logs: Any) -> None:
        try:
            training = self.trainings.known(getattr(callbacks, "_model", None))
            if training is not None:
                training.epoch_ended(logs or {})
        except Exception as error:
            self._watch.failed(error)


class Listening:
    """A model's function for one step, heard."""

    def __init__(self, function: Any, model: Any, trainings: Trainings, watch: Any) -> None:
        self._function, self._trainings, self._watch = function, trainings, watch
        self._model = weakref.ref(model)

    def __call__(self, data: Any) -> Any:
        training = self._training()
        if training is None:
            return self._function(data)
        self._trainings.enter(training)
        try:
            with training.step(data):
                return self._watch._story.repeated(lambda: self._step(training, data))
        finally:
            self._trainings.leave()

    def _step(self, training: Any, data: Any) -> Any:
        if self._watch._story.tracing:
            training.suspend()
        return self._function(data)

    def _training(self) -> Any:
        try:
            model, story = self._model(), self._watch._story
            if model is None or story is None or (story.off and not story.skipped):
                return None
            training = self._trainings.of(model)
            return None if training.off else training
        except Exception as error:
            self._watch.failed(error)
            return None


def _title(backend: str) -> str:
    return {"tensorflow": "TensorFlow", "jax": "JAX", "openvino": "OpenVINO", "numpy": "NumPy"}.get(backend, backend)
