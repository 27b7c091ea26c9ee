"""Tensors of whichever backend Keras runs on, told from the symbols of a graph that is being built."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import keras
from keras.src import backend


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    own = name in vars(owner)
    before = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


def are_numbers(args: Any, kwargs: Any) -> bool:
    """Numbers, not the symbols of a graph that is being built or compiled."""
    leaves = keras.tree.flatten((args, kwargs))
    if any(isinstance(leaf, keras.KerasTensor) for leaf in leaves):
        return False
    tensors = [leaf for leaf in leaves if is_tensor(leaf)]
    return all(map(_holds_numbers, tensors))


def is_tensor(leaf: Any) -> bool:
    return bool(backend.is_tensor(leaf))


def is_of_floats(leaf: Any) -> bool:
    return is_tensor(leaf) and bool(backend.is_float_dtype(backend.standardize_dtype(leaf.dtype)))


def _holds_numbers(leaf: Any) -> bool:
    if backend.backend() == "jax":
        import jax

        return not isinstance(leaf, jax.core.Tracer)
    if backend.backend() == "tensorflow":
        return hasattr(leaf, "numpy")
    return True


def kinds() -> list[type]:
    """The classes whose operators a user's `x + y` calls."""
    name = backend.backend()
    if name == "torch":
        import torch

        return [torch.Tensor]
    if name == "jax":
        import jax.numpy

        return [type(jax.numpy.zeros(()))]
    if name == "tensorflow":
        import tensorflow

        return [tensorflow.Tensor]
    return []


def rank_of(args: Any) -> int | None:
    return next((len(leaf.shape) for leaf in keras.tree.flatten(args) if is_tensor(leaf)), None)
