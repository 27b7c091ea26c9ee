"""Every call of a torch function in one run of a model, with what it gave: two runs can be laid side by side."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

from sleuth.findings import Place
from sleuth.frameworks import torch_private
from sleuth.live.trace import called_name
from sleuth.program import place_of, users_frame
from sleuth.testing.given import named_tensors
from sleuth.testing.wording import at

_Unseen = torch_private.get("torch._C.DisableTorchFunction")

_MOST_CALLS = 20_000
_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


@dataclass(eq=False, slots=True)
class Call:
    """One call: the function's name, its line, the layer it ran in, the dimension it was told, and what it gave."""

    number: int
    name: str
    place: Place | None
    layer: str
    kind: str
    dim: Any
    outputs: list[Tensor]
    inputs: list[Call]

    @property
    def says(self) -> str:
        inside = f" in the layer {self.layer} ({self.kind})" if self.layer else ""
        return f"{self.name}{inside}{at(self.place)}"


class Recorder(TorchFunctionMode):
    """Writes the calls down, in order."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self._makers: dict[int, tuple[weakref.ref[Tensor], Call]] = {}
        self._layers = {id(part): name for name, part in model.named_modules()} if isinstance(model, nn.Module) else {}
        self._running: list[Any] = []

    def behind(self, outputs: Any) -> set[int]:
        """The numbers of the calls that these outputs were computed from."""
        todo = [call for _, tensor in named_tensors(outputs) if (call := self._maker(tensor)) is not None]
        found: set[int] = set()
        while todo:
            call = todo.pop()
            if call.number not in found:
                found.add(call.number)
                todo += call.inputs
        return found

    def _maker(self, tensor: Tensor) -> Call | None:
        reference, call = self._makers.get(id(tensor), (None, None))
        return call if reference is not None and reference() is tensor else None

    def enters(self, module: Any, args: Any) -> None:
        self._running.append(module)

    def leaves(self, module: Any, args: Any, output: Any) -> None:
        if self._running:
            self._running.pop()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if len(self.calls) < _MOST_CALLS:
            with _Unseen():
                self._note(func, args, kwargs, result)
        return result

    def _note(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        outputs = [tensor.detach().clone() for _, tensor in named_tensors(result)]
        caller = sys._getframe(2)
        if not outputs or caller.f_code.co_filename.startswith(_OURS):
            return
        frame = users_frame(caller)
        place = place_of(frame.f_code, frame.f_lasti) if frame is not None else None
        layer = self._running[-1] if self._running else None
        dim = kwargs.get("dim", args[1] if len(args) > 1 and isinstance(args[1], int | tuple) else None)
        inputs = [maker for _, t in named_tensors((args, kwargs)) if (maker := self._maker(t)) is not None]
        name, kind = self._layers.get(id(layer), ""), type(layer).__name__ if layer is not None else ""
        call = Call(len(self.calls), _name(func), place, name, kind, dim, outputs, inputs)
        self.calls.append(call)
        for _, tensor in named_tensors(result):
            self._makers[id(tensor)] = (weakref.ref(tensor), call)


def _name(func: Any) -> str:
    name = getattr(func, "__name__", "")
    if name == "__get__":
        return str(getattr(getattr(func, "__self__", None), "__name__", "attribute"))
    return called_name(func) or name.strip("_")


@contextmanager
def recorded(model: Any) -> Iterator[Recorder]:
    """Write down the calls made within. Attention runs without its fast path, which hides what it calls."""
    recorder = Recorder(model)
    hooks = [
        register_module_forward_pre_hook(recorder.enters),
        register_module_forward_hook(recorder.leaves, always_call=True),
    ]
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with recorder:
            yield recorder
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for hook in hooks:
            hook.remove()


def side_by_side(one: list[Call], other: list[Call]) -> Iterator[tuple[Call, Call]]:
    """The calls of two runs, as long as both do the same."""
    for first, second in zip(one, other, strict=False):
        same = [tensor.shape for tensor in first.outputs] == [tensor.shape for tensor in second.outputs]
        if first.name != second.name or not same:
            return
        yield first, second
