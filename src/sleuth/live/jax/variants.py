"""How a loss is computed from what comes with each step, by the shapes of that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from sleuth.live.jax.differentiated import Differentiated
from sleuth.live.jax.listing import Op
from sleuth.live.jax.recipe import Recipe, trace


@dataclass(eq=False)
class Variant:
    """The step as it was traced for arguments of certain shapes: how its loss is computed, which inputs of that come
    with the step (`moving`), and the others."""

    recipe: Recipe
    moving: tuple[int, ...]
    shapes: tuple[tuple[tuple[int, ...], Any], ...]
    constants: list[Any]

    def inputs(self, moving: Sequence[Any]) -> list[Any]:
        inputs = list(self.constants)
        for i, value, (_, kind) in zip(self.moving, moving, self.shapes, strict=True):
            lost_its_kind = _is_key(kind) and not _is_key(value.dtype)
            inputs[i] = jax.random.wrap_key_data(value, impl=_key_kind(kind)) if lost_its_kind else value
        return inputs

    def weights(self, moving: Sequence[Any]) -> list[Any]:
        by_place = dict(zip(self.moving, moving, strict=True))
        return [by_place.get(i, self.constants[i]) for i in self.recipe.weights]

    @cached_property
    def bytes(self) -> int:
        """Of what comes with a step."""
        return sum(int(np.prod(shape)) * (8 if _is_key(kind) else kind.itemsize) for shape, kind in self.shapes)


class Variants:
    """Those of one optimiser. `relocate` gives an operation's line where that is not the innermost of the user's."""

    def __init__(self, relocate: Callable[[Op], Any] | None = None) -> None:
        self._relocate = relocate
        self._recipes: dict[Any, Recipe] = {}

    def of(self, call: Differentiated, fresh: Any, names: tuple[str, ...] = ()) -> tuple[Variant, list[Any]]:
        """Inputs that are known while tracing stay with the variant; the others, which come with each step, are given
        beside it. `names` are those of the weights, where the gradients do not tell."""
        recipe, inputs = self._recipe(call, fresh, names)
        used = recipe.listing.used
        moving = tuple(i for i, v in enumerate(inputs) if isinstance(v, jax.core.Tracer) and i in used)
        shapes = tuple(kind_of(inputs[i]) for i in moving)
        known = [_blank(*kind_of(v)) if isinstance(v, jax.core.Tracer) and i not in used else v
                 for i, v in enumerate(inputs)]  # fmt: skip
        known = [None if i in moving else v for i, v in enumerate(known)]
        return Variant(recipe, moving, shapes, known), [inputs[i] for i in moving]

    def of_numbers(self, call: Differentiated, fresh: Any, names: tuple[str, ...] = ()) -> tuple[Variant, list[Any]]:
        """Outside of any trace: the variant, and all inputs."""
        recipe, inputs = self._recipe(call, fresh, names)
        return Variant(recipe, (), (), inputs), inputs

    def _recipe(self, call: Differentiated, fresh: Any, names: tuple[str, ...]) -> tuple[Recipe, list[Any]]:
        """Where it is the same as before, what was compiled for that still holds."""
        recipe, inputs = trace(call, fresh, self._relocate)
        recipe.names = names or recipe.names
        key = (recipe.line, len(recipe.listing.ops), tuple(kind_of(v) for v in inputs))
        return self._recipes.setdefault(key, recipe), inputs


def kind_of(value: Any) -> tuple[tuple[int, ...], Any]:
    return tuple(value.shape), value.dtype


def _is_key(dtype: Any) -> bool:
    return bool(jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key))


def _key_kind(dtype: Any) -> str:
    return str(dtype._impl.name)


def _blank(shape: tuple[int, ...], dtype: Any) -> Any:
    if not _is_key(dtype):
        return np.zeros(shape, dtype)
    with jax.ensure_compile_time_eval():
        key = jax.random.key(0, impl=_key_kind(dtype))
        return jax.random.split(key, shape) if shape else key
