"""How a module is called: which of its arguments are tensors, under which names, and what else goes with them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from sleuth.compare.reference import as_array
from sleuth.compare.values import Array, Batch, Input


@dataclass(frozen=True, slots=True)
class CallForm:
    """The arguments of a call taken apart: `batch` fills the places of tensors, `rest` the others."""

    names: tuple[str, ...]
    batch: Batch
    shape: pytree.TreeSpec
    rest: tuple[Any, ...]

    @classmethod
    def of(cls, model: nn.Module, positional: Sequence[Any], named: Mapping[str, Any]) -> CallForm:
        leaves, shape = pytree.tree_flatten_with_path((tuple(positional), dict(named)))
        parameters = parameters_of(model)
        names = tuple(_name(path, parameters) for path, leaf in leaves if is_tensor(leaf))
        batch = tuple(_array(leaf) for _, leaf in leaves if is_tensor(leaf))
        return cls(names, batch, shape, tuple(_HOLE if is_tensor(leaf) else leaf for _, leaf in leaves))

    @property
    def is_plain(self) -> bool:
        """Tensors alone, each an argument of its own."""
        whole = pytree.tree_unflatten(list(self.rest), self.shape)
        return all(one is _HOLE for one in (*whole[0], *whole[1].values()))

    def filled(self, tensors: Sequence[Tensor]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = iter(tensors)
        leaves = [next(given) if one is _HOLE else one for one in self.rest]
        positional, named = pytree.tree_unflatten(leaves, self.shape)
        return positional, named

    def bound_to(self, model: nn.Module) -> nn.Module:
        """The module as one that takes the tensors alone, by name, so that a graph of it has no other inputs."""
        bound = copy.copy(model)
        forward = model.forward

        def by_name(**tensors: Tensor) -> Any:
            positional, named = self.filled([tensors[name] for name in self.names])
            return forward(*positional, **named)

        bound.forward = by_name
        return bound


class _Hole:
    """Where a tensor goes."""


_HOLE = _Hole()


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor | np.ndarray)


def _array(value: Any) -> Array:
    return as_array(value) if isinstance(value, Tensor) else np.asarray(value)


def parameters_of(model: nn.Module) -> list[str]:
    """The names of what `forward` takes by place."""
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):
        return []
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [one.name for one in signature.parameters.values() if one.kind in by_place]


def required_by(model: nn.Module) -> list[str] | None:
    """The names of what `forward` cannot do without; None where its signature does not tell."""
    try:
        signature = inspect.signature(model.forward)
    except (TypeError, ValueError):
        return None
    if any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in signature.parameters.values()):
        return None
    return [
        one.name
        for one in signature.parameters.values()
        if one.default is inspect.Parameter.empty and one.kind is not inspect.Parameter.VAR_KEYWORD
    ]


def inputs_of(names: Sequence[str], batch: Batch) -> tuple[Input, ...]:
    """As the example has them; which dimensions are free is found out by trying."""
    return tuple(Input(name, array.shape, array.dtype.name) for name, array in zip(names, batch, strict=True))


def _name(path: tuple[Any, ...], parameters: Sequence[str]) -> str:
    """`x`, `pair_0`, `batch_ids`: the argument's name and the way into it."""
    keys: list[Any] = [getattr(key, "key", getattr(key, "idx", getattr(key, "name", None))) for key in path]
    place, *inner = keys[1:]
    if keys[0] == 0:
        place = parameters[place] if place < len(parameters) else f"input_{place}"
    return "_".join(str(one) for one in (place, *inner)).replace(".", "_")
