"""What a step starts from besides its weights: the random generators and the buffers that forward passes change."""

from __future__ import annotations

import ctypes
import gc
import random
import sys
import weakref
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

_MT19937_BYTES = 624 * 4 + 4


@dataclass(frozen=True, slots=True)
class RandomState:
    """All generators a training script draws from."""

    torch_cpu: Tensor
    python: Any
    numpy: Any
    accelerator: tuple[Tensor, ...]

    def restore(self) -> None:
        torch.set_rng_state(self.torch_cpu)
        random.setstate(self.python)
        if self.numpy is not None:
            sys.modules["numpy"].random.set_state(self.numpy)
        for device, state in enumerate(self.accelerator):
            torch.cuda.set_rng_state(state, device)


class RandomStates:
    """Takes random states cheaply: NumPy's, which costs 80 µs to copy, only where it has moved."""

    def __init__(self) -> None:
        self._numpy_bytes = b""
        self._numpy_state: Any = None

    def take(self) -> RandomState:
        accelerator: tuple[Tensor, ...] = ()
        if torch.cuda.is_initialized():
            accelerator = tuple(torch.cuda.get_rng_state_all())
        return RandomState(torch.get_rng_state(), random.getstate(), self._numpy(), accelerator)

    def _numpy(self) -> Any:
        numpy = sys.modules.get("numpy")
        if numpy is None or not hasattr(numpy, "random"):
            return None
        generator = numpy.random.get_bit_generator()
        if type(generator).__name__ != "MT19937":
            return numpy.random.get_state()
        now = ctypes.string_at(generator.ctypes.state_address, _MT19937_BYTES)
        if now != self._numpy_bytes:
            self._numpy_bytes = now
            self._numpy_state = numpy.random.get_state()
        return self._numpy_state


def is_a(thing: Any, kind: type) -> bool:
    """isinstance for anything the garbage collector knows: asks the type, never the object, which may be a lazy proxy."""
    return issubclass(type(thing), kind)


class Buffers:
    """The buffers of all modules that forward passes write to (BatchNorm's statistics), copied before each step.

    At first every buffer is copied; later only those that were seen to change, so that a big constant table costs
    nothing."""

    def __init__(self) -> None:
        self._modules: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._known = -1
        self._changing: list[tuple[weakref.ref[nn.Module], str]] = []
        self._live: list[Tensor] = []
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
            torch._foreach_copy_(self._copies, self._live)

    def settle(self) -> None:
        """After a step: keep only the buffers that it changed."""
        if self._known == len(self._modules) and self._versions:
            kept = [i for i, tensor in enumerate(self._live) if tensor._version != self._versions[i]]
            self._live = [self._live[i] for i in kept]
            self._copies = [self._copies[i] for i in kept]
            self._versions = {}

    def _look_again(self) -> None:
        self._known = len(self._modules)
        self._live = [
            buffer
            for module in self._modules
            for buffer in module._buffers.values()
            if buffer is not None and buffer.layout == torch.strided and buffer.device.type != "meta"
        ]
        with torch.no_grad():
            self._copies = [buffer.detach().clone() for buffer in self._live]
        self._versions = {i: tensor._version for i, tensor in enumerate(self._live)}

    def restore(self) -> None:
        if self._live:
            with torch.no_grad():
                torch._foreach_copy_(self._live, self._copies)
