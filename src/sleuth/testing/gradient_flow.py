"""One pass of a model seen call by call: where on its way to the loss a weight is lost, cut off or comes to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor, nn

from sleuth.live import graph
from sleuth.live.learning.graph_cut import cut_off
from sleuth.live.learning.inspection import Call, Inspection, ancestors
from sleuth.testing.given import Loss, called, loss_of
from sleuth.testing.wording import at

Advise = Callable[[str], None]

# Their slope is 0 wherever they have one.
_STEPS = frozenset(("round", "floor", "ceil", "trunc", "sign", "sgn", "heaviside", "fix"))


class Pass:
    """A forward pass with its loss."""

    def __init__(self, model: Any, batch: Any, loss: Loss) -> None:
        inputs, targets = batch
        self._model = model
        self._constant: dict[int, float] = {}
        self._inspection = Inspection(self._saw, self._failed)
        self._inspection.start()
        try:
            self._loss = loss_of(loss, called(model, inputs), targets)
        finally:
            self._inspection.stop()
        self._leaves = graph.leaves_below(self._loss) if self._loss.requires_grad else []
        self._missing, self._cut = cut_off(
            self._inspection, self._loss, self._leaves, {id(p) for p in model.parameters()}
        )

    def _failed(self, error: Exception) -> None:
        raise error

    def _saw(self, call: Call, args: Any, kwargs: Any, result: Any) -> None:
        if isinstance(result, Tensor) and result.is_floating_point() and result.numel() > 1:
            first = float(result.detach().reshape(-1)[0])
            if bool((result.detach() == first).all()):
                self._constant[call.number] = first

    def why_no_gradient(self, parameter: Any, advise: Advise) -> str:
        using = [call for call in self._inspection.calls if any(p is parameter for p in call.parameters)]
        if not using:
            advise("use the layer in forward(), or delete it")
            return "no gradient: forward() never uses it"
        if any(p is parameter for p in self._missing) and self._cut is not None:
            advise("let the values flow through torch without detach(), .data, no_grad(), item() or numpy()")
            return f"no gradient: {self._cut.name} cuts its way to the loss{at(self._cut.place)}"
        if not using[-1].grad_enabled:
            advise("use it outside of no_grad()")
            return f"no gradient: it is used with gradients switched off{at(using[-1].place)}"
        if not self._loss.requires_grad:
            advise("compute the loss from the model's outputs with torch's own functions, without detach() or item()")
            return "no gradient: the loss does not depend on anything that requires one"
        advise("make the loss depend on what the layer gives")
        return f"no gradient: what it gives never reaches the loss{at(using[-1].place)}"

    def why_zero(self, parameter: Any, advise: Advise) -> str:
        after = list(self._after(parameter))
        for call in after:
            if call.name in _STEPS:
                advise(f"use a smooth function in place of {call.name} while training, or a straight-through estimator")
                return f"its gradient is exactly 0: the slope of {call.name} is 0 everywhere{at(call.place)}"
        for call in after:
            if call.number in self._constant:
                return self._why_constant(call, self._constant[call.number], advise)
        advise("look what its results are multiplied by on their way to the loss")
        return "its gradient is exactly 0 at every try"

    def _why_constant(self, call: Call, value: float, advise: Advise) -> str:
        if call.name in ("softmax", "log_softmax"):
            advise("a softmax over one unit is always 1: take a sigmoid, or more units")
        elif value == 0:
            advise("start biases at 0 and weights from nn.init.kaiming_normal_, lower the learning rate, use LeakyReLU")
        else:
            advise("keep what goes into it within the range where it has a slope")
        return f"its gradient is exactly 0: {call.name} gives {value:g} for every sample{at(call.place)}"

    def _after(self, parameter: Any) -> Iterator[Call]:
        """The calls that rest on this weight, in the order they were made."""
        resting: set[int] = set()
        for call in self._inspection.calls:
            if any(p is parameter for p in call.parameters) or any(id(one) in resting for one in call.inputs):
                resting.add(id(call))
                yield call

    def strays(self, known: set[int], held: dict[int, Any], advise: Advise) -> dict[str, str]:
        """Weights below the loss that are neither registered with the model nor held by the optimiser."""
        places: dict[int, str] = {}
        for call in ancestors(self._inspection.call_of(self._loss)):
            for parameter in call.parameters:
                places.setdefault(id(parameter), at(call.place))
        found: dict[str, str] = {}
        for leaf in self._leaves:
            if isinstance(leaf, nn.Parameter) and id(leaf) not in known and id(leaf) not in held:
                name = _name(self._model, leaf) or f"a parameter of shape {tuple(leaf.shape)}"
                found[name] = (
                    "the loss depends on it, but model.parameters() does not give it, so no optimizer holds it"
                    + places.get(id(leaf), "")
                )
                advise(
                    "keep layers in nn.ModuleList or nn.ModuleDict and weights in nn.ParameterList, not in a plain list"
                )
        return found


def _name(model: Any, leaf: Any) -> str | None:
    """`blocks[0].weight`, for what an attribute holds in a list or dict."""
    for prefix, part in model.named_modules():
        for attribute, value in vars(part).items():
            if attribute.startswith("_") or not isinstance(value, list | tuple | dict):
                continue
            pairs = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in pairs:
                where = f"{prefix}.{attribute}[{key!r}]" if prefix else f"{attribute}[{key!r}]"
                if item is leaf:
                    return where
                for name, parameter in item.named_parameters() if isinstance(item, nn.Module) else ():
                    if parameter is leaf:
                        return f"{where}.{name}"
    return None
