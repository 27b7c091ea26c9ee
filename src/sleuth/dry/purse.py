"""What real numbers have cost so far: a program that is too big for this machine is rehearsed with fake ones."""

from __future__ import annotations

import math
import resource
import sys
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# One or two seconds on two cores of a laptop; forward passes only, the backward ones cost twice as much again.
_MOST_OPERATIONS = 25e9
_MOST_BYTES = 400 << 20
_LOOK_EVERY = 4
_FACTORIES = {
    "zeros",
    "ones",
    "empty",
    "full",
    "rand",
    "randn",
    "randint",
    "eye",
    "randperm",
    "arange",
    "linspace",
    "normal",
}


class Purse:
    """Raises TooExpensive when it is empty."""

    def __init__(self, stage: Stage) -> None:
        self._bounded = not stage.fake
        self._calls = 0
        self._operations = 0.0
        self._at_first = _resident()

    def spend(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Pay for a call before it is made."""
        if not self._bounded or any(is_lazy(arg) for arg in args[:2]):
            return
        name = getattr(func, "__name__", "")
        if name in _FACTORIES:
            self._check_bytes(_elements(args, kwargs) * 4)
        self._operations += operations(name, args)
        self._check_bytes(result_elements(name, args) * 4)
        self._calls += 1
        if self._calls % _LOOK_EVERY == 0:
            self._check_bytes(_resident() - self._at_first)
        if self._operations > _MOST_OPERATIONS:
            self._stop(f"more than {_MOST_OPERATIONS:.0e} multiplications")

    def check_allocation(self, error: Exception) -> None:
        """This machine's memory is no concern of a program that is meant for another."""
        if self._bounded and "can't allocate memory" in str(error):
            self._stop("more memory than there is here")

    def _check_bytes(self, held: float) -> None:
        if held > _MOST_BYTES:
            self._stop(f"{held / (1 << 20):,.0f} MB of tensors")

    def _stop(self, why: str) -> None:
        from sleuth.dry.stage import TooExpensive

        self._bounded = False
        raise TooExpensive(why)


def operations(name: str, args: tuple[Any, ...]) -> float:
    """About how many multiplications and additions a call makes, of those that make many."""
    sizes = [tuple(arg.shape) for arg in args[:2] if isinstance(arg, torch.Tensor) and not arg.is_meta]
    if len(sizes) < 2 or not sizes[0] or not sizes[1]:
        return 0.0
    first, second = sizes
    if name in ("linear", "bilinear"):
        return 2.0 * math.prod(first) * second[0]
    if name in ("matmul", "mm", "bmm", "__matmul__", "__rmatmul__"):
        return 2.0 * math.prod(first) * second[-1]
    if name.startswith("conv") and len(first) == len(second):
        stride = args[3] if len(args) > 3 else 1
        strides = math.prod(stride) if isinstance(stride, tuple | list) else stride ** (len(second) - 2)
        return 2.0 * math.prod(second) * first[0] * math.prod(first[2:]) / max(1, strides)
    if name == "scaled_dot_product_attention":
        return 4.0 * math.prod(first) * second[-2]
    if name in ("lstm", "gru", "rnn_tanh", "rnn_relu") and len(args) > 2 and isinstance(args[2], list | tuple):
        weights = sum(w.numel() for w in args[2] if isinstance(w, torch.Tensor))
        return 2.0 * weights * math.prod(first[:-1])
    return 0.0


def result_elements(name: str, args: tuple[Any, ...]) -> float:
    """How many elements a product has, of those that may have many more than what they are made of."""
    sizes = [tuple(arg.shape) for arg in args[:2] if isinstance(arg, torch.Tensor)]
    if len(sizes) < 2 or name not in _PRODUCTS or not sizes[0] or not sizes[1]:
        return 0.0
    first, second = sizes
    return float(math.prod(first[:-1]) * (second[0] if name == "linear" else second[-1]))


_PRODUCTS = ("linear", "matmul", "mm", "bmm", "__matmul__")


def _elements(args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """How many elements a factory is asked for; a guess from its whole numbers that errs to the small side."""
    size = kwargs.get("size", args)
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = size[0]
    numbers = [one for one in size if isinstance(one, int) and not isinstance(one, bool)]
    if len(numbers) != len(size):
        nested = [one for one in size if isinstance(one, list | tuple)]
        numbers = [one for one in nested[0] if isinstance(one, int)] if nested else []
    return float(math.prod(numbers)) if numbers else 0.0


def _resident() -> int:
    """The most memory this process has held, in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
