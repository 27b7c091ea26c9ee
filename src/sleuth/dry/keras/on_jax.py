"""Keras on JAX: a whole step of training by its shapes, the user's own `train_step` included."""

from __future__ import annotations

from typing import Any

import jax
import keras

_ALL = ("trainable_variables", "non_trainable_variables", "optimizer_variables", "metrics_variables")


def check_step(model: Any, x: Any, y: Any) -> None:
    """Raises what the step would raise; nothing is computed or compiled."""
    model._symbolic_build(data_batch=(x, y))
    state = model._get_jax_state(**dict.fromkeys(_ALL, True))
    jax.eval_shape(model.train_step, state, keras.tree.map_structure(_described, (x, y)))


def _described(tensor: Any) -> Any:
    return jax.ShapeDtypeStruct(tensor.shape, jax.dtypes.canonicalize_dtype(tensor.dtype))
