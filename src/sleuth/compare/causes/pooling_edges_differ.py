"""Pooling that treats the edges, or the window, otherwise: padding counted or not, on one side, maximum or mean."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument
from sleuth.compare.causes._calls import subject, with_
from sleuth.compare.reference import Call

_POOL = re.compile(r"(max|avg)_pool(\d)d(?:_with_indices)?")
_ADAPTIVE = re.compile(r"_?adaptive_(max|avg)_pool(\d)d")
_REDUCED = {"mean": "mean", "sum": "sum", "amax": "maximum", "max": "maximum"}
OPS = frozenset(
    {f"{kind}_pool{n}d" for kind in ("max", "avg", "adaptive_max", "adaptive_avg") for n in (1, 2, 3)}
    | {"max_pool2d_with_indices", "max_pool3d_with_indices", "_adaptive_avg_pool2d", "mean", "sum", "amax"}
)


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in _REDUCED:
        return _of_reduction(call)
    adaptive = _ADAPTIVE.fullmatch(call.op)
    if adaptive is not None:
        return _of_adaptive(call, adaptive[1], int(adaptive[2]))
    known = _POOL.fullmatch(call.op)
    return _of_windows(call, known[1], int(known[2])) if known is not None else ()


class _Windows:
    """The windows of a pooling, with all the choices that libraries make differently."""

    def __init__(self, call: Call, count: int) -> None:
        self.kernel = _each(call.arguments["kernel_size"], count)
        self.stride = _each(argument(call, "stride") or self.kernel, count)
        self.padding = _each(argument(call, "padding") or 0, count)
        self.dilation = _each(argument(call, "dilation") or 1, count)
        self.count = count

    def sides(self, shape: tuple[int, ...], wanted: tuple[int, ...], late: bool) -> list[tuple[int, int]]:
        """Just enough padding for these outputs, the odd one at the end (TensorFlow) or at the start."""
        found = []
        spans = zip(shape, wanted, self.kernel, self.stride, self.dilation, strict=True)
        for size, new, kernel, stride, dilation in spans:
            total = max((new - 1) * stride + (kernel - 1) * dilation + 1 - size, 0)
            less = total // 2
            found.append((less, total - less) if late else (total - less, less))
        return found

    def pooled(self, value: Tensor, sides: list[tuple[int, int]], fill: float, kind: str) -> Tensor:
        flat = [side for pair in reversed(sides) for side in pair]
        padded = functional.pad(value, flat, value=fill)
        pool: Callable[..., Tensor] = getattr(functional, f"{kind}_pool{self.count}d")
        dilated = {"dilation": self.dilation} if kind == "max" else {}
        return pool(padded, self.kernel, self.stride, **dilated)


def _of_windows(call: Call, kind: str, count: int) -> Iterator[Proposal]:
    tensor = subject(call)
    assert tensor is not None
    windows = _Windows(call, count)
    result = call.again()
    pair = isinstance(result, tuple)
    shape, wanted = tuple(tensor.shape[-count:]), tuple((result[0] if pair else result).shape[-count:])
    padded, rounded_up = any(windows.padding), bool(argument(call, "ceil_mode"))

    def way(compute: Callable[[Tensor], Tensor]) -> Callable[[Call], Any]:
        def apply(call: Call) -> Any:
            found = compute(subject(call))  # type: ignore[arg-type]
            return (found, found) if pair else found

        return apply

    both = [(p, p) for p in windows.padding]
    other = "avg" if kind == "max" else "max"
    words = {"max": "maximum", "avg": "mean"}
    if all(n == 1 for n in windows.dilation):
        fill = -math.inf if other == "max" else 0.0
        yield Proposal(
            f"it takes the {words[other]} of each window, not the {words[kind]}",
            f"take the {words[kind]}",
            way(lambda value: windows.pooled(value, both, fill, other)),
        )
    yield Proposal(
        f"ceil_mode is {not rounded_up}, not {rounded_up}",
        "round the output's size as the reference does",
        with_(ceil_mode=not rounded_up),
    )
    if kind == "avg" and (padded or rounded_up):
        counted = argument(call, "count_include_pad")
        yield Proposal(
            f"padding is {'not counted' if counted else 'counted'} in the mean",
            f"set count_include_pad={counted}",
            with_(count_include_pad=not counted),
        )
    if kind == "max" and padded:
        yield Proposal(
            "it is padded with zeros, which win where all values are negative; the reference pads with minus infinity",
            "pad inside the pooling, not with zeros before it",
            way(lambda value: windows.pooled(value, both, 0.0, "max")),
        )
    yield from _of_sides(windows, kind, shape, wanted, way)


def _of_sides(
    windows: _Windows,
    kind: str,
    shape: tuple[int, ...],
    wanted: tuple[int, ...],
    way: Callable[[Callable[[Tensor], Tensor]], Callable[[Call], Any]],
) -> Iterator[Proposal]:
    own = [(p, p) for p in windows.padding]
    for late, word in ((True, "end"), (False, "start")):
        sides = windows.sides(shape, wanted, late)
        if [start for start, _ in sides] == windows.padding:  # the windows are the same; what lies behind is not used
            continue
        fills = {"": -math.inf, ", with zeros": 0.0} if kind == "max" else {"": 0.0}
        for says, fill in fills.items():
            yield Proposal(
                f"it is padded by {_shown(sides)}{says}, the odd place at the {word}, not by {_shown(own)}",
                f"pad by {_shown(own)} explicitly, and pool without padding",
                way(lambda value, sides=sides, fill=fill: windows.pooled(value, sides, fill, kind)),  # type: ignore[misc]
            )
        if kind == "avg":
            yield Proposal(
                f"it is padded by {_shown(sides)}, the odd place at the {word}, and padding is not counted in the mean",
                f"pad by {_shown(own)} explicitly, and pool without padding",
                way(lambda value, sides=sides: _uncounted(windows, value, sides)),  # type: ignore[misc]
            )


def _uncounted(windows: _Windows, value: Tensor, sides: list[tuple[int, int]]) -> Tensor:
    return windows.pooled(value, sides, 0.0, "avg") / windows.pooled(torch.ones_like(value), sides, 0.0, "avg")


def _of_adaptive(call: Call, kind: str, count: int) -> Iterator[Proposal]:
    tensor = subject(call)
    assert tensor is not None
    other = "avg" if kind == "max" else "max"
    wanted = _each(call.arguments["output_size"], count)
    pair = kind == "max" and call.op.startswith("adaptive_max")

    def as_here(found: Tensor) -> Any:
        return (found, found) if pair else found

    swapped: Callable[..., Tensor] = getattr(functional, f"adaptive_{other}_pool{count}d")
    words = {"max": "maximum", "avg": "mean"}
    yield Proposal(
        f"it takes the {words[other]} of each window, not the {words[kind]}",
        f"take the {words[kind]}",
        lambda call: as_here(swapped(subject(call), wanted)),
    )
    shape = tensor.shape[-count:]
    if any(size % new for size, new in zip(shape, wanted, strict=True)):
        kernel = [size - (new - 1) * (size // new) for size, new in zip(shape, wanted, strict=True)]
        stride = [size // new for size, new in zip(shape, wanted, strict=True)]
        plain: Callable[..., Tensor] = getattr(functional, f"{kind}_pool{count}d")
        for windows in (kernel, stride):
            yield Proposal(
                f"its windows are all {' x '.join(map(str, windows))}, not of the sizes that adapt",
                "use windows from floor(i n / m) to ceil((i + 1) n / m), as the reference does",
                lambda call, windows=windows: as_here(plain(subject(call), windows, stride)[..., : wanted[-1]]),  # type: ignore[misc]
            )


def _of_reduction(call: Call) -> Iterator[Proposal]:
    tensor, dim = subject(call), argument(call, "dim")
    if tensor is None or tensor.ndim < 3 or dim in (None, []):
        return
    keep = bool(argument(call, "keepdim"))
    for name, word in (("mean", "mean"), ("sum", "sum"), ("amax", "maximum")):
        if word != _REDUCED[call.op]:
            yield Proposal(
                f"it takes the {word}, not the {_REDUCED[call.op]}",
                f"take the {_REDUCED[call.op]}",
                lambda call, name=name: getattr(torch, name)(subject(call), dim=dim, keepdim=keep),  # type: ignore[misc]
            )


def _each(value: Any, count: int) -> list[int]:
    several = list(value) if isinstance(value, list | tuple) else [value]
    return [int(one) for one in (several if len(several) == count else several * count)]


def _shown(sides: list[tuple[int, int]]) -> str:
    return " x ".join(f"({before}, {after})" for before, after in sides)
