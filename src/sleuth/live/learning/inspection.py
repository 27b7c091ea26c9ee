"""One round of the loop seen at the level of torch's functions: who called what, on which line, with what from whom."""

from __future__ import annotations

import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

from sleuth.findings import Place
from sleuth.frameworks import torch_private
from sleuth.live.trace import called_name
from sleuth.program import is_users, place_of, users_frame

_function_modes = torch_private.get("torch.overrides._get_current_function_mode_stack")
_Unseen = torch_private.get("torch._C.DisableTorchFunction")

# They pass the numbers on as they are, in another shape, order, type or place.
VIEWS = frozenset(
    (
        *("view", "reshape", "squeeze", "unsqueeze", "flatten", "unflatten", "transpose", "permute", "contiguous", "t"),
        *(
            "T",
            "mT",
            "expand",
            "expand_as",
            "narrow",
            "select",
            "movedim",
            "swapaxes",
            "view_as",
            "reshape_as",
            "ravel",
        ),
        *(
            "to",
            "float",
            "double",
            "half",
            "bfloat16",
            "type",
            "type_as",
            "long",
            "int",
            "cpu",
            "cuda",
            "clone",
            "alias",
        ),
        *("squeeze_", "unsqueeze_", "atleast_1d", "atleast_2d", "detach_", "requires_grad_", "data"),
    )
)
# They leave the world of tensors.
TO_PYTHON = frozenset(["item", "numpy", "tolist", "float", "int", "bool", "index"])
# With the module in evaluation mode these take a shortcut that torch does not take while a mode is active.
_FAST_PATHS = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder)
_GETTERS = frozenset(("data", "T", "mT", "H", "real", "imag"))
_NOT_CALLS = frozenset(("backward", "size", "dim", "is_floating_point", "repr", "format", "len", "hash"))
_MOST_CALLS = 20_000
_LAYERS = os.path.join("torch", "nn", "modules", "")


@dataclass(eq=False, slots=True)
class Call:
    """One call of a function of torch by the program (or by a layer)."""

    name: str
    code: CodeType | None
    instruction: int
    module: Any
    inputs: list[Call]
    # The leaves among the arguments: parameters, and tensors that were there before.
    parameters: list[Tensor]
    sources: list[Any]
    shape: tuple[int, ...]
    had_grad: bool
    has_grad: bool
    grad_enabled: bool
    number: int
    dim: int | None = None
    # How many layers of torch lie between the user's line and the function: 0 for F.relu(x), 1 for self.relu(x),
    # 2 for a layer that an nn.Sequential calls.
    depth: int = 0
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> Place | None:
        return place_of(self.code, self.instruction) if self.code is not None else None


class Inspection(TorchFunctionMode):
    """While on, writes down every call. `on_call` sees each with its arguments and result while those are alive."""

    def __init__(self, on_call: Callable[[Call, tuple[Any, ...], dict[str, Any], Any], None], failed: Any) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.modules: list[Any] = []
        self.roots: list[RootCall] = []
        self.on_call = on_call
        self._failed = failed
        self._by_id: dict[int, tuple[weakref.ref[Tensor], Call]] = {}
        self._paused = False
        self._on = False
        self._stepped_aside = False
        self._hooks: list[Any] = []
        self._aside: list[Any] = []

    @property
    def on(self) -> bool:
        return self._on

    def start(self) -> None:
        self.forget()
        if self._on:
            self._paused = False
            return
        self._paused = False
        self._on = True
        self.__enter__()  # type: ignore[no-untyped-call]
        self._hooks = [
            register_module_forward_pre_hook(self._enters),
            register_module_forward_hook(self._leaves, always_call=True, with_kwargs=True),
        ]

    def step_aside(self) -> None:
        """Out of the way for a moment."""
        if self._on_top() and not self._stepped_aside:
            self._stepped_aside = True
            self.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def come_back(self) -> None:
        if self._stepped_aside:
            self._stepped_aside = False
            self.__enter__()  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """Look no further. Where a mode of the program's own lies above ours, ours stays but does nothing."""
        self._paused = True
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self.modules.clear()
        self._aside.clear()
        if self._stepped_aside:
            self._stepped_aside = self._on = False
        elif self._on and self._on_top():
            self._on = False
            self.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def forget(self) -> None:
        self.calls, self.roots, self._by_id = [], [], {}

    def let_go(self, tensors: Sequence[Any]) -> None:
        """Hold no weak reference to any of these."""
        held = [reference for tensor in tensors for reference in weakref.getweakrefs(tensor)]
        for tensor in tensors:
            self._by_id.pop(id(tensor), None)
        for call in self.calls if held else ():
            call.sources = [source for source in call.sources if not any(source is one for one in held)]

    def call_of(self, tensor: Any) -> Call | None:
        """The call that made this tensor, or last wrote to it."""
        found = self._by_id.get(id(tensor))
        return found[1] if found is not None and found[0]() is tensor else None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self._paused or len(self.calls) >= _MOST_CALLS:
            return func(*args, **kwargs)
        name = _name(func)
        if name is None:
            return func(*args, **kwargs)
        had_grad = _any_grad(args) or (bool(kwargs) and _any_grad(tuple(kwargs.values())))
        result = func(*args, **kwargs)
        self._paused = True
        try:
            with _Unseen():
                self._write_down(name, func, args, kwargs, result, had_grad)
        except Exception as error:
            self._failed(error)
            return result
        self._paused = False
        return result

    def _write_down(self, name: str, func: Any, args: Any, kwargs: Any, result: Any, had_grad: bool) -> None:
        outputs = list(tensors_in(result))
        if not outputs and name not in TO_PYTHON:
            return
        code, instruction, depth = _users_line()
        inputs: list[Call] = []
        parameters: list[Tensor] = []
        sources: list[Any] = []
        for tensor in tensors_in((args, kwargs)):
            maker = self.call_of(tensor)
            if isinstance(tensor, nn.Parameter):
                parameters.append(tensor)
            elif maker is not None:
                inputs.append(maker)
            else:
                sources.append(weakref.ref(tensor))
        call = Call(
            name,
            code,
            instruction,
            self.modules[-1] if self.modules else None,
            inputs,
            parameters,
            sources,
            tuple(outputs[0].shape) if outputs else (),
            had_grad,
            any(t.requires_grad for t in outputs),
            torch.is_grad_enabled(),
            len(self.calls),
            depth=depth,
        )
        if name == "sub":
            call.notes["raw"] = func.__name__
        self.calls.append(call)
        for tensor in outputs:
            if not isinstance(tensor, nn.Parameter):
                self._by_id[id(tensor)] = (weakref.ref(tensor), call)
        self.on_call(call, args, kwargs, result)

    def _enters(self, module: Any, args: Any) -> None:
        if self._paused:
            return
        if not self.modules:
            self.roots.append(
                RootCall(
                    weakref.ref(module), _users_line()[:2], len(self.calls), torch.is_grad_enabled(), _users_frames()
                )
            )
        self.modules.append(module)
        if not module.training and isinstance(module, _FAST_PATHS) and self._on_top():
            self._aside.append(module)
            self._paused = True
            self.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def _leaves(self, module: Any, args: Any, *named_and_output: Any) -> None:
        # After an error in the layer torch leaves the arguments by name out.
        *named, output = named_and_output
        if self._aside and self._aside[-1] is module:
            self._aside.pop()
            self.__enter__()  # type: ignore[no-untyped-call]
            self._paused = False
            for tensor in tensors_in(output):
                maker = Call(
                    "attention", None, 0, module, [], [], [], tuple(tensor.shape), False,
                    tensor.requires_grad, torch.is_grad_enabled(), len(self.calls),
                )  # fmt: skip
                self._by_id[id(tensor)] = (weakref.ref(tensor), maker)
        if self._paused:
            return
        while self.modules and self.modules[-1] is not module:
            self.modules.pop()
        if self.modules:
            self.modules.pop()
        if not self.modules and self.roots:
            root = self.roots[-1]
            root.arguments = args
            root.named = named[0] if named else {}
            root.outputs = [self.call_of(t) for t in tensors_in(output)]

    def _on_top(self) -> bool:
        return bool(_function_modes()[-1:] == [self])


@dataclass(eq=False, slots=True)
class RootCall:
    """The program's own call of a module (not one that another module makes)."""

    module: Any
    line: tuple[CodeType | None, int]
    first_call: int
    grad_enabled: bool
    # The user's frames at the call, by identity and instruction.
    callers: frozenset[tuple[int, int]] = frozenset()
    arguments: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)
    outputs: list[Call | None] = field(default_factory=list)

    @property
    def given(self) -> tuple[Any, ...]:
        """All that the module was called with, by position or by name."""
        return (*self.arguments, *self.named.values())

    @property
    def place(self) -> Place | None:
        code, instruction = self.line
        return place_of(code, instruction) if code is not None else None


def back(call: Call | None) -> Call | None:
    """The call behind views and reshapes that really made the numbers."""
    while call is not None and call.name in VIEWS and call.inputs:
        call = call.inputs[0]
    return call


def ancestors(call: Call | None) -> Iterator[Call]:
    """The call and all that it was computed from, each once, the nearest first."""
    seen: set[int] = set()
    todo = deque([call] if call is not None else [])
    while todo:
        one = todo.popleft()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            todo.extend(one.inputs)


def tensors_in(value: Any) -> Iterator[Tensor]:
    """The tensors in what a function takes or gives, in their order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def _any_grad(values: Any) -> bool:
    return any(tensor.requires_grad for tensor in tensors_in(values))


def _name(func: Any) -> str | None:
    name = getattr(func, "__name__", "")
    if name in ("__get__", "__set__"):
        getter = getattr(getattr(func, "__self__", None), "__name__", "")
        return getter if name == "__get__" and getter in _GETTERS else None
    name = called_name(func) or name.strip("_")
    return name if name not in _NOT_CALLS else None


def _users_line() -> tuple[CodeType | None, int, int]:
    """The user's innermost line, and how many layers of torch it goes through to reach the function."""
    frame: FrameType | None = sys._getframe(2)
    layers = 0
    while frame is not None:
        code = frame.f_code
        if is_users(code.co_filename):
            return code, frame.f_lasti, layers
        layers += code.co_name == "forward" and _LAYERS in code.co_filename
        frame = frame.f_back
    return None, 0, layers


def _users_frames() -> frozenset[tuple[int, int]]:
    frames = set()
    frame = users_frame(sys._getframe(1))
    while frame is not None:
        frames.add((id(frame), frame.f_lasti))
        frame = users_frame(frame.f_back)
    return frozenset(frames)
