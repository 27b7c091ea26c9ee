"""What a step starts from besides its weights: the random generators and the buffers that forward passes change."""

from __future__ import annotations

import _random
import ctypes
import gc
import random
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.frameworks import torch_private
from sleuth.program import users_frame

_copy_all = torch_private.get("torch._foreach_copy_")

_HAS_CUDA = torch.version.cuda is not None
_WORDS = 624
_WORD = ctypes.sizeof(ctypes.c_uint32)
_HEADER = object.__basicsize__
# Python's own generator keeps its position and words right behind the object's header; where that is not so, its state
# is copied every time.
_CAN_PEEK = _random.Random.__basicsize__ in range(
    _HEADER + _WORD + _WORDS * _WORD, _HEADER + 2 * _WORD + _WORDS * _WORD + 8
)


class _Peek:
    """Tells whether a Mersenne twister has moved, from its position and its first words: the position changes with
    every draw, the words whenever all 624 have been used up."""

    def __init__(self, position: int, words: int) -> None:
        self._position = ctypes.c_uint32.from_address(position)
        self._first = ctypes.c_uint64.from_address(words)
        self._seen = (-1, -1)

    def moved(self) -> bool:
        now = (self._position.value, self._first.value)
        if now == self._seen:
            return False
        self._seen = now
        return True


@dataclass(slots=True)
class RandomState:
    """All generators a training script draws from."""

    torch_cpu: Tensor
    python: Any
    numpy: Any
    accelerator: tuple[Tensor, ...]
    generators: tuple[tuple[Any, Any], ...] = ()

    def restore(self) -> None:
        torch.set_rng_state(self.torch_cpu)
        random.setstate(self.python)
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)
        for device, state in enumerate(self.accelerator):
            torch.cuda.set_rng_state(state, device)
        for generator, state in self.generators:
            _set_state(generator, state)


def _is_generator(thing: Any) -> bool:
    """A random generator that the program made for itself."""
    if isinstance(thing, torch.Generator | random.Random):
        return True
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(thing, numpy.random.Generator | numpy.random.RandomState)


def _state(generator: Any) -> Any:
    if isinstance(generator, torch.Generator):
        return generator.get_state()
    if isinstance(generator, random.Random):
        return generator.getstate()
    return generator.bit_generator.state if hasattr(generator, "bit_generator") else generator.get_state()


def _set_state(generator: Any, state: Any) -> None:
    if isinstance(generator, torch.Generator):
        generator.set_state(state)
    elif isinstance(generator, random.Random):
        generator.setstate(state)
    elif hasattr(generator, "bit_generator"):
        generator.bit_generator.state = state
    else:
        generator.set_state(state)


class RandomStates:
    """Takes random states cheaply: those that are slow to copy (NumPy's 80 µs, Python's 10 µs) only if they moved."""

    def __init__(self) -> None:
        start = id(random._inst) + _HEADER
        self._python_moved = _Peek(start, start + _WORD).moved if _CAN_PEEK else _always
        self._python_state: Any = None
        self._numpy_moved: Callable[[], bool] | None = None
        self._numpy_state: Any = None
        self._generators: list[Any] = []

    def find_generators(self, frame: FrameType | None) -> None:
        """Look for generators of the program's own in the variables of its frames, and in what those hold."""
        frame = users_frame(frame)
        while frame is not None:
            for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
                self._add(value)
                if not callable(value) and not isinstance(value, ModuleType | Tensor):
                    for inner in list(getattr(value, "__dict__", {}).values())[:32]:
                        self._add(inner)
            frame = users_frame(frame.f_back)

    def _add(self, value: Any) -> None:
        if _is_generator(value) and not any(value is known for known in self._generators):
            self._generators.append(value)

    def take(self) -> RandomState:
        accelerator: tuple[Tensor, ...] = ()
        if _HAS_CUDA and torch.cuda.is_initialized():
            accelerator = tuple(torch.cuda.get_rng_state_all())
        own = tuple([(generator, _state(generator)) for generator in self._generators]) if self._generators else ()
        return RandomState(torch.default_generator.get_state(), self._python(), self._numpy(), accelerator, own)

    def _python(self) -> Any:
        if self._python_moved():
            self._python_state = random.getstate()
        return self._python_state

    def _numpy(self) -> Any:
        if self._numpy_moved is None:
            numpy = sys.modules.get("numpy")
            if numpy is None or not hasattr(numpy, "random"):
                return None
            generator = numpy.random.get_bit_generator()
            twister = type(generator).__name__ == "MT19937"
            start = generator.ctypes.state_address if twister else 0
            self._numpy_moved = _Peek(start + _WORDS * _WORD, start).moved if twister else _always
        if self._numpy_moved():
            self._numpy_state = sys.modules["numpy"].random.get_state()
        return self._numpy_state


def _always() -> bool:
    return True


def is_a(thing: Any, kind: type) -> bool:
    """isinstance for anything the garbage collector knows: asks the type, never the object, which may be a proxy."""
    return issubclass(type(thing), kind)


class Buffers:
    """The buffers of all modules that forward passes write to (BatchNorm's statistics), copied before each step.

    At first every buffer is copied; later only those that were seen to change, so that a big constant table costs
    nothing."""

    def __init__(self) -> None:
        self._modules: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._known = -1
        self._live: list[Tensor] = []
        self._owners: list[weakref.ref[nn.Module]] = []
        self._copies: list[Tensor] = []
        self._versions: dict[int, int] = {}

    def add(self, module: nn.Module) -> None:
        self._modules.add(module)

    def add_existing(self) -> None:
        """Find the modules that were built before the watch began."""
        for thing in gc.get_objects():
            if is_a(thing, nn.Module) and thing._buffers:
                self._modules.add(thing)

    def take(self) -> None:
        if len(self._modules) != self._known:
            self._look_again()
        elif self._live:
            _copy_all(self._copies, self._live)

    def settle(self) -> None:
        """After a step: keep only the buffers that it changed."""
        if self._known == len(self._modules) and self._versions:
            # BatchNorm's kernels write to its statistics without counting up their version: compare the numbers, too.
            kept = [
                i
                for i, (tensor, copy) in enumerate(zip(self._live, self._copies, strict=True))
                if tensor._version != self._versions[i] or not torch.equal(tensor, copy)
            ]
            self._live = [self._live[i] for i in kept]
            self._owners = [self._owners[i] for i in kept]
            self._copies = [self._copies[i] for i in kept]
            self._versions = {}

    def _look_again(self) -> None:
        self._known = len(self._modules)
        found = [
            (buffer, weakref.ref(module))
            for module in self._modules
            for buffer in module._buffers.values()
            if buffer is not None and buffer.layout == torch.strided and buffer.device.type != "meta"
        ]
        self._live = [buffer for buffer, _ in found]
        self._owners = [owner for _, owner in found]
        with torch.no_grad():
            self._copies = [buffer.detach().clone() for buffer in self._live]
        self._versions = {i: tensor._version for i, tensor in enumerate(self._live)}

    def at_start(self, buffer: Tensor) -> Tensor:
        """What a buffer held when the round began: its copy, or itself where rounds do not change it."""
        return next((copy for live, copy in self._written() if live is buffer), buffer)

    def restore(self) -> None:
        with torch.no_grad():
            for live, copy in self._written():
                live.copy_(copy)

    def _written(self) -> Iterator[tuple[Tensor, Tensor]]:
        """What the round has written to, with its copy. A layer in evaluation mode has written nothing: what differs
        was changed before, between the last step and this one."""
        for live, copy, owner in zip(self._live, self._copies, self._owners, strict=True):
            module = owner()
            if module is not None and module.training:
                yield live, copy
