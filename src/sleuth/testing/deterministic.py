"""The same seed gives the same result, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sleuth.testing import wording
from sleuth.testing.given import called, copied_model, named_tensors, number_from
from sleuth.testing.undisturbed import undisturbed

if TYPE_CHECKING:
    from torch import Tensor

    from sleuth.testing.calls import Call


def assert_deterministic(
    function_or_model: Any, *inputs: Any, seed: int = 0, times: int = 2, seed_all: bool = False
) -> None:
    """The same inputs and torch seed give the same results, bitwise: outputs and, for a model, gradients.

    A model runs on a fresh copy each time, as it is; and in evaluation mode twice in a row on one copy, where nothing
    that it remembers may change its answer. With `seed_all=True`, the global generators of Python and NumPy are seeded
    too."""
    __tracebackhide__ = True
    if not callable(function_or_model):
        raise TypeError(f"give a model or a function, not {type(function_or_model).__name__}")
    if times < 2:
        raise ValueError(f"times must be 2 or more, not {times}: one run agrees with itself")
    with undisturbed():
        failure = _failure(_Subject(function_or_model, inputs, seed, seed_all), times)
    if failure is not None:
        raise AssertionError(failure)


class _Subject:
    """The function or model with its inputs, ready to be run from the same start again and again."""

    def __init__(self, thing: Any, inputs: tuple[Any, ...], seed: int, seed_all: bool) -> None:
        from torch import nn

        self.thing, self.seed, self.seed_all = thing, seed, seed_all
        self.is_model = isinstance(thing, nn.Module)
        self._inputs = inputs[0] if len(inputs) == 1 else inputs

    def copy(self) -> Any:
        return copied_model(self.thing)[0] if self.is_model else self.thing

    def run(self, thing: Any) -> dict[str, Any]:
        """Everything that must be the same, by name."""
        self._sow()
        outputs = called(thing, self._inputs)
        results = dict(_flat(outputs, "the output"))
        value = number_from(outputs) if self.is_model else None
        if value is not None and value.requires_grad:
            thing.zero_grad(set_to_none=True)
            value.backward()
            for name, parameter in thing.named_parameters():
                if parameter.grad is not None:
                    results[f"the gradient of {name}"] = parameter.grad
        return results

    def _sow(self) -> None:
        import random
        import sys

        import torch

        torch.manual_seed(self.seed)
        if self.seed_all:
            random.seed(self.seed)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(self.seed)


def _flat(value: Any, name: str) -> list[tuple[str, Any]]:
    """Every part of a result that can be compared by itself."""
    tensors = list(named_tensors(value, name))
    if tensors and not isinstance(value, Mapping | list | tuple):
        return list(tensors)
    if isinstance(value, Mapping):
        return [pair for key, item in value.items() for pair in _flat(item, f"{name}[{key!r}]")]
    if isinstance(value, list | tuple):
        return [pair for index, item in enumerate(value) for pair in _flat(item, f"{name}[{index}]")]
    return [(name, value)]


def _failure(subject: _Subject, times: int) -> str | None:
    first = subject.run(subject.copy())
    for time in range(2, times + 1):
        difference = _difference(first, subject.run(subject.copy()))
        if difference is not None:
            return _unsteady(subject, difference, time)
    return _forgetful(subject) if subject.is_model else None


def _difference(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    if one.keys() != other.keys():
        return f"one run gives {wording.listed(list(one))}, another {wording.listed(list(other))}"
    for name, value in one.items():
        difference = _apart(value, other[name])
        if difference is not None:
            return f"{name} differs: {difference}"
    return None


def _apart(one: Any, other: Any) -> str | None:
    """How far apart two results are, or None where they are the same bit by bit (NaN is like NaN)."""
    import torch
    from torch import Tensor

    if not isinstance(one, Tensor) and hasattr(one, "__array__") and hasattr(one, "dtype"):
        one, other = torch.as_tensor(one), torch.as_tensor(other)
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return _tensors_apart(one.detach(), other.detach())
    equality: Any = type(one).__eq__
    if type(one) is type(other) and (equality is object.__eq__ or one == other or one != one):
        # What knows no equality but its own identity cannot be compared.
        return None
    return f"{one!r} and {other!r}"


def _tensors_apart(one: Tensor, other: Tensor) -> str | None:
    if one.shape != other.shape or one.dtype != other.dtype:
        return f"{tuple(one.shape)} {one.dtype} and {tuple(other.shape)} {other.dtype}"
    if one.is_sparse:
        one, other = one.to_dense(), other.to_dense()
    unequal = (one != other) & ~((one != one) & (other != other))
    count = int(unequal.sum())
    if not count:
        return None
    by = float((one.double() - other.double()).abs()[unequal].max()) if not one.is_complex() else 0.0
    return f"{count:,} of {one.numel():,} values, by up to {by:.3g}"


def _unsteady(subject: _Subject, difference: str, time: int) -> str:
    """The message where runs from the same start differ."""
    from sleuth.testing.randomness import causes

    call = _first_unlike(subject)
    why = [f"run {time} is unlike run 1: {difference}"]
    if call is not None:
        why.append(f"the first call that gives something else is {call[0].says}: {call[1]}")
    found = causes(subject)
    why += [cause.says for cause in found]
    change = [cause.change for cause in found]
    if not found:
        why.append(
            "no generator of random numbers and no state was seen to change: an operation of the device itself, or the "
            "order of something hashed by its address"
        )
        change.append("try torch.use_deterministic_algorithms(True), which names operations that are not")
    return wording.message("the same seed does not give the same result", why, change)


def _first_unlike(subject: _Subject) -> tuple[Call, str] | None:
    """The first call of a torch function whose result differs between two runs, and by how much."""
    from sleuth.testing.calls import recorded, side_by_side

    runs = []
    for _ in range(2):
        copy = subject.copy()
        with recorded(copy) as recorder:
            subject.run(copy)
        runs.append(recorder.calls)
    for one, other in side_by_side(*runs):
        for a, b in zip(one.outputs, other.outputs, strict=True):
            difference = _tensors_apart(a, b)
            if difference is not None:
                return one, difference
    return None


def _forgetful(subject: _Subject) -> str | None:
    """The message where a model in evaluation mode answers differently the second time."""
    from sleuth.testing.randomness import State

    copy = subject.copy().eval()
    before = State.of(copy)
    difference = _difference(subject.run(copy), subject.run(copy))
    if difference is None:
        return None
    changed = before.changed(copy)
    why = [f"called twice in evaluation mode with the same seed, {difference}"]
    if changed:
        why.append(f"running it changes its own state: {wording.listed(changed)}")
    return wording.message(
        "the same seed does not give the same result: the model remembers its last call",
        why,
        ["change buffers and counters only `if self.training:`, or give the state to forward() and return it"],
    )
