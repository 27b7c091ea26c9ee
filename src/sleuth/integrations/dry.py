"""`sleuth.dry(fn, inputs)`: a function or model rehearsed on a pretended accelerator, from code and in notebooks."""

from __future__ import annotations

import copy
import inspect
import types
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from sleuth.dry.scenario import Scenario, bytes_of
from sleuth.findings import Report
from sleuth.program import silenced

if TYPE_CHECKING:
    from sleuth.dry.in_process import Held, Numbers


def dry(
    fn: Callable[..., Any],
    inputs: Any = (),
    *,
    device: str = "cuda",
    cards: int = 1,
    card: str = "24GB",
    numbers: Numbers = "auto",
    ignore: Collection[str] = (),
) -> Report:
    """Rehearse a call of `fn` on a machine that seems to have such a device, and say what would go wrong there.

    A tuple or list of inputs is given one by one, a dict by name, anything else as the one argument. An input that is a
    function without parameters is called to make the input there: `lambda: torch.randn(64, 3, 224, 224)`. A model is
    rehearsed on the device, with its inputs there, a function as it is. Copies are used; what `fn` finds elsewhere is
    put back as it was. Files that it writes are written: only the command `sleuth dry` keeps it from that."""
    if not callable(fn):
        raise TypeError(f"sleuth.dry rehearses a function or a model, not {type(fn).__name__}")
    from sleuth.dry.in_process import hold
    from sleuth.integrations.as_before import as_before
    from sleuth.integrations.showing import known_to_notebook
    from sleuth.testing.undisturbed import undisturbed

    name = getattr(fn, "__qualname__", type(fn).__name__)
    scenario = Scenario(name, device=device, cards=cards, card_bytes=bytes_of(card))
    with undisturbed(), as_before(fn):
        held = hold(lambda: _perform(fn, inputs, device), scenario, numbers)
    _say_where_it_stopped(held)
    known_to_notebook()
    return Report("dry", name, tuple(finding for finding in held.findings if not silenced(finding, ignore)))


def _perform(fn: Any, inputs: Any, device: str) -> None:
    from torch import nn

    is_model = isinstance(fn, nn.Module)
    fn, inputs = copy.deepcopy((fn, inputs)) if is_model else (fn, copy.deepcopy(inputs))
    inputs = _made(inputs)
    if is_model:
        fn, inputs = fn.to(device), moved(inputs, device)
    if isinstance(inputs, Mapping):
        fn(**inputs)
    elif isinstance(inputs, list) or type(inputs) is tuple:
        fn(*inputs)
    else:
        fn(inputs)


def _made(value: Any) -> Any:
    if isinstance(value, types.FunctionType) and not inspect.signature(value).parameters:
        return value()
    if isinstance(value, list) or type(value) is tuple:
        return type(value)(_made(one) for one in value)
    if isinstance(value, dict):
        return {name: _made(one) for name, one in value.items()}
    return value


def moved(value: Any, device: str) -> Any:
    """The same structure with every tensor in it on the device."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(one, device) for one in value))
    if isinstance(value, tuple | list):
        return type(value)(moved(one, device) for one in value)
    if isinstance(value, Mapping):
        return {name: moved(one, device) for name, one in value.items()}
    return value


def _say_where_it_stopped(held: Held) -> None:
    from sleuth.dry.stage import CannotGoOn, TooExpensive

    if isinstance(held.error, CannotGoOn | TooExpensive):
        warnings.warn(f"the rehearsal could not go on: {held.error}", stacklevel=3)
