"""One training step of a Keras model, on each backend by its own means; afterwards the model is as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import keras
from keras.src import backend

from sleuth.compare.values import Array, Trained

# What layers call the share that they drop.
_RATES = ("rate", "dropout", "recurrent_dropout", "_dropout")


def trained_step(
    model: Any, inputs: Any, rate: float, variables: Mapping[str, Any], as_array: Callable[[Any], Array]
) -> Trained:
    """`variables` are all of the model's, by name."""
    before = {name: as_array(one.value) for name, one in variables.items()}
    with _without_dropout(model):
        outputs, gradients = _STEPS[backend.backend()](model, inputs)
    by_variable = {id(one): name for name, one in variables.items()}
    slopes = {
        by_variable[id(one)]: as_array(gradient)
        for one, gradient in zip(model.trainable_variables, gradients, strict=True)
        if gradient is not None
    }
    after = {name: as_array(one.value) for name, one in variables.items()}
    for name, slope in slopes.items():
        after[name] = after[name] - after[name].dtype.type(rate) * slope
    for name, one in variables.items():
        one.assign(before[name])
    return Trained([as_array(one) for one in keras.tree.flatten(outputs)], slopes, after)


def _loss(outputs: Any) -> Any:
    """As in `sleuth.compare.training`."""
    real = [one for one in keras.tree.flatten(outputs) if "float" in backend.standardize_dtype(one.dtype)]
    return sum(keras.ops.mean(one**2 / 2 + one**3 / 6) for one in real)


def _on_torch(model: Any, inputs: Any) -> tuple[Any, list[Any]]:
    import torch

    for one in model.trainable_variables:
        one.value.grad = None
    with torch.enable_grad():
        outputs = model(inputs, training=True)
        _loss(outputs).backward()
    gradients = [one.value.grad for one in model.trainable_variables]
    for one in model.trainable_variables:
        one.value.grad = None
    return outputs, gradients


def _on_tensorflow(model: Any, inputs: Any) -> tuple[Any, list[Any]]:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        outputs = model(inputs, training=True)
        loss = _loss(outputs)
    found = tape.gradient(loss, [one.value for one in model.trainable_variables])
    return outputs, [None if one is None else tf.convert_to_tensor(one) for one in found]


def _on_jax(model: Any, inputs: Any) -> tuple[Any, list[Any]]:
    import jax

    def loss(trainable: list[Any], others: list[Any]) -> Any:
        outputs, others = model.stateless_call(trainable, others, inputs, training=True)
        return _loss(outputs), (outputs, others)

    trainable = [one.value for one in model.trainable_variables]
    others = [one.value for one in model.non_trainable_variables]
    gradients, (outputs, others) = jax.grad(loss, has_aux=True)(trainable, others)
    for one, value in zip(model.non_trainable_variables, others, strict=True):
        one.assign(value)
    return outputs, list(gradients)


_STEPS = {"torch": _on_torch, "tensorflow": _on_tensorflow, "jax": _on_jax}


@contextmanager
def _without_dropout(model: Any) -> Iterator[None]:
    """Chance cannot be compared."""
    held: list[tuple[Any, str, float]] = []
    for layer in model._flatten_layers():
        for name in _RATES:
            rate = layer.__dict__.get(name)
            is_share = isinstance(rate, float | int) and not isinstance(rate, bool) and 0 < rate < 1
            if is_share and "rop" in type(layer).__name__ + name:
                held.append((layer, name, rate))
                object.__setattr__(layer, name, 0.0)
    try:
        yield
    finally:
        for layer, name, rate in held:
            object.__setattr__(layer, name, rate)
