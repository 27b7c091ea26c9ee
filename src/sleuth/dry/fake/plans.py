"""What a call would return, without its numbers: asked of torch's fake kernels once for each kind of call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from sleuth.dry.fake import hollow
from sleuth.dry.fake.operations import Operation
from sleuth.frameworks import torch_private

# More kinds of calls than any program makes; one whose shapes never repeat must not fill the memory.
_MOST = 50_000


@dataclass(frozen=True, slots=True)
class New:
    """A tensor that the call makes."""

    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype


@dataclass(frozen=True, slots=True)
class Same:
    """The tensor that was given as the n-th. An `out=` of another shape has this one afterwards."""

    position: int
    shape: tuple[int, ...]

    def found(self, given: list[torch.Tensor]) -> torch.Tensor:
        tensor = given[self.position]
        return tensor if tensor.shape == self.shape else tensor.resize_(self.shape)


@dataclass(frozen=True, slots=True)
class Plan:
    """The results of a call: each `New`, `Same` or a plain value. `many` is the type that holds several, or None."""

    results: tuple[Any, ...]
    many: type | None
    elements: int

    def carried_out(self, given: list[torch.Tensor], guess: Any) -> Any:
        made = [
            hollow.make(one.shape, one.stride, one.dtype, guess)
            if type(one) is New
            else one.found(given)
            if type(one) is Same
            else one
            for one in self.results
        ]
        return made[0] if self.many is None else self.many(made)


class Plans:
    """Remembers the plan of each kind of call."""

    def __init__(self) -> None:
        self._mode = torch_private.get("torch._subclasses.fake_tensor.FakeTensorMode")(allow_non_fake_inputs=True)
        self._known: dict[Any, Plan] = {}

    def of(
        self,
        func: Any,
        operation: Operation,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        given: list[torch.Tensor],
        at_first: Callable[[], None],
    ) -> Plan:
        """The plan of this call. Raises what the fake kernel raises; `at_first` is called before a new one is kept."""
        key = (func, _key(args, operation.exact_floats), _key(tuple(kwargs.items()), operation.exact_floats))
        plan = self._known.get(key)
        if plan is None:
            plan = self._made(func, args, kwargs, given)
            at_first()
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = plan
        return plan

    def _made(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]) -> Plan:
        twins: dict[int, torch.Tensor] = {}
        with self._mode:

            def fake(value: Any) -> Any:
                if isinstance(value, torch.Tensor):
                    if id(value) not in twins:
                        twins[id(value)] = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
                    return twins[id(value)]
                if isinstance(value, (list, tuple)):
                    return type(value)([fake(one) for one in value])
                return value

            result = func(*(fake(one) for one in args), **{name: fake(one) for name, one in kwargs.items()})
        positions = {id(twins[id(tensor)]): number for number, tensor in enumerate(given)}
        many = type(result) if isinstance(result, (list, tuple)) else None
        results = tuple(_planned(one, positions) for one in (result if many else [result]))
        elements = sum(_product(one.shape) for one in results if isinstance(one, New))
        return Plan(results, many if many in (None, list) else tuple, elements)


def _planned(result: Any, positions: dict[int, int]) -> Any:
    if not isinstance(result, torch.Tensor):
        return result
    if id(result) in positions:
        return Same(positions[id(result)], tuple(result.shape))
    return New(tuple(result.shape), tuple(result.stride()), result.dtype)


def _product(shape: tuple[int, ...]) -> int:
    count = 1
    for size in shape:
        count *= size
    return count


def _key(value: Any, exact_floats: bool) -> Any:
    if isinstance(value, torch.Tensor):
        return value.dtype, value.shape, value.stride()
    kind = value.__class__
    if kind is tuple or kind is list:
        return tuple([_key(one, exact_floats) for one in value])
    if kind is float and not exact_floats:
        return float
    return kind, value
