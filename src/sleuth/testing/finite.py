"""No NaN and no Inf, for the inputs given and for the edge cases derived from them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any

from sleuth.testing import wording
from sleuth.testing.given import called, checked_model, copied_model, loss_of, mapped, named_tensors, number_from
from sleuth.testing.nonfinite_story import bad_gradients, is_bad, story
from sleuth.testing.undisturbed import undisturbed

if TYPE_CHECKING:
    from torch import Tensor, nn

# Outliers of this many times the largest input given: no data set is free of them, and float32 has room for them.
_LARGE = 1000.0
EDGE_CASES = ("zeros", "constant", "large", "one sample", "repeated rows", "padding")


def assert_finite(
    model: nn.Module,
    inputs: Any,
    loss: Callable[..., Any] | None = None,
    edge_cases: bool | Collection[str] = True,
    targets: Any = None,
) -> None:
    """Outputs, loss and gradients hold neither NaN nor Inf, for the inputs and for edge cases made from them.

    `loss` is called as loss(outputs, targets), or as loss(outputs) where there are no targets. `edge_cases` may name
    some of: zeros, constant, large, one sample, repeated rows, padding. An edge case that the model refuses with an
    error of its own is left out. An output of -inf (a mask) is fine where loss and gradients are."""
    __tracebackhide__ = True
    checked_model(model)
    if loss is not None and not callable(loss):
        raise TypeError(f"the loss must be callable as loss(outputs, targets), not {type(loss).__name__}")
    if loss is None and targets is not None:
        raise ValueError("targets without a loss: give the loss too")
    wanted = _wanted(edge_cases)
    with undisturbed():
        for name, case, case_targets in _cases(inputs, targets, wanted):
            failure = _Case(model, name, case, loss, case_targets).failure()
            if failure is not None:
                break
    if failure is not None:
        raise AssertionError(failure)


def _wanted(edge_cases: bool | Collection[str]) -> Collection[str]:
    if isinstance(edge_cases, bool):
        return EDGE_CASES if edge_cases else ()
    names = [edge_cases] if isinstance(edge_cases, str) else list(edge_cases)
    for name in names:
        if name not in EDGE_CASES:
            raise ValueError(f"there is no edge case {name!r}; choose from {', '.join(EDGE_CASES)}")
    return names


def _cases(inputs: Any, targets: Any, wanted: Collection[str]) -> Iterator[tuple[str, Any, Any]]:
    import torch

    yield "", inputs, targets
    tensors = [tensor for _, tensor in named_tensors(inputs)]
    floats = any(tensor.is_floating_point() for tensor in tensors)
    whole = any(_is_whole(tensor) for tensor in tensors)
    count = next((len(tensor) for tensor in tensors if tensor.dim()), 0)

    def of_floats(change: Callable[[Tensor], Tensor]) -> Any:
        return mapped(lambda t: change(t.detach()) if t.is_floating_point() else t, inputs)

    def rows(change: Callable[[Tensor], Tensor], value: Any) -> Any:
        return mapped(lambda t: change(t.detach()) if t.dim() and len(t) == count else t, value)

    if floats and "zeros" in wanted:
        yield "zeros", of_floats(torch.zeros_like), targets
    if floats and "constant" in wanted:
        yield (
            "constant",
            of_floats(lambda t: torch.full_like(t, float(t.float().mean()) if t.numel() else 0.0)),
            targets,
        )
    if floats and "large" in wanted:
        yield "large", of_floats(lambda t: t * (_LARGE * (10.0 if t.abs().max() == 0 else 1.0))), targets
    if count > 1 and "one sample" in wanted:
        yield "one sample", rows(lambda t: t[:1].clone(), inputs), rows(lambda t: t[:1].clone(), targets)
    if count > 1 and "repeated rows" in wanted:
        yield "repeated rows", rows(lambda t: t[:1].expand_as(t).clone(), inputs), targets
    if whole and "padding" in wanted:
        yield "padding", mapped(lambda t: torch.zeros_like(t) if _is_whole(t) else t, inputs), targets


def _is_whole(tensor: Tensor) -> bool:
    """Token ids, or a mask of ones and zeros; what True means in a mask is the model's own affair."""
    import torch

    return tensor.dtype in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


_SAID = {
    "": "the inputs given",
    "zeros": "inputs that are all 0",
    "constant": "inputs that are all the same number",
    "large": f"inputs {_LARGE:g} times as large",
    "one sample": "a batch of one sample",
    "repeated rows": "a batch of one sample repeated",
    "padding": "a batch of nothing but padding (all ids and masks 0)",
}


class _Case:
    def __init__(self, model: Any, name: str, inputs: Any, loss: Any, targets: Any) -> None:
        self._model, self._name, self._inputs, self._loss, self._targets = model, name, inputs, loss, targets

    def failure(self) -> str | None:
        """The message where something is not finite. An error of the model's own on an edge case is its right."""
        from sleuth.live.snapshot import RandomStates

        copy, _ = copied_model(self._model)
        random = RandomStates().take()
        try:
            bad = self._bad(copy)
        except Exception:
            if self._name:
                return None
            raise
        if bad is None:
            return None
        verdict, number = bad
        random.restore()
        copy, _ = copied_model(self._model)
        findings = story(copy, lambda: number(copy))
        why = [wording.told(findings)] if findings else ["the operation that made it could not be traced"]
        change = [] if findings else ["run the model under sleuth.watch() with these inputs"]
        if self._name:
            change.append(f"or, if such inputs cannot come, leave the case out: edge_cases without {self._name!r}")
        return wording.message(f"{verdict} for {_SAID[self._name]}", why, change)

    def _bad(self, copy: Any) -> tuple[str, Callable[[Any], Any]] | None:
        """What is not finite, and the number to trace it by."""
        outputs = called(copy, self._inputs)
        value = self._value(outputs)
        if value is not None and value.requires_grad and not is_bad(float(value.detach())):
            value.backward()
        gradients = bad_gradients(copy)
        is_fine = self._loss is not None and not gradients and not is_bad(float(value.detach()))
        for name, tensor in named_tensors(outputs):
            what = _what(tensor)
            if what is not None and not (what.startswith("-inf") and is_fine):
                return f"{name} holds {what}", lambda model: _sum_of(called(model, self._inputs))
        if value is not None and self._loss is not None and is_bad(float(value.detach())):
            return f"the loss is {float(value.detach()):g}", lambda model: self._value(called(model, self._inputs))
        if gradients:
            return (
                f"the gradient of {wording.listed(gradients)} is not finite",
                lambda model: self._value(called(model, self._inputs)),
            )
        return None

    def _value(self, outputs: Any) -> Any:
        if self._loss is None:
            return number_from(outputs)
        if self._targets is None:
            return loss_of(lambda given, _: self._loss(given), outputs, None)
        return loss_of(self._loss, outputs, self._targets)


def _sum_of(outputs: Any) -> Any:
    """Not finite wherever an output is not."""
    import torch

    return torch.stack([t.float().sum() for _, t in named_tensors(outputs) if t.is_floating_point()]).sum()


def _what(tensor: Tensor) -> str | None:
    import torch

    if not tensor.is_floating_point():
        return None
    for word, found in (("NaN", torch.isnan), ("inf", torch.isposinf), ("-inf", torch.isneginf)):
        count = int(found(tensor).sum())
        if count:
            return f"{word} in {count:,} of {tensor.numel():,} values"
    return None
