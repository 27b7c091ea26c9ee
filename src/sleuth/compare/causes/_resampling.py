"""Resizing along one axis after another, each a matrix: every library's rule for corners, kernels and edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Rule:
    """`place` says where an output pixel lies in the input: of its number, the input's and the output's size."""

    kernel: str
    place: str
    smooth: bool = False
    sharpness: float = -0.75


_PLACES: dict[str, Callable[[Tensor, int, int, float], Tensor]] = {
    "half pixel": lambda at, old, new, ratio: (at + 0.5) * ratio - 0.5,
    "aligned corners": lambda at, old, new, ratio: at * ((old - 1) / (new - 1) if new > 1 else 0.0),
    "asymmetric": lambda at, old, new, ratio: at * ratio,
    "half pixel, and the first for one": lambda at, old, new, ratio: (at + 0.5) * ratio - 0.5 if new > 1 else at,
}


def resized(value: Tensor, sizes: tuple[int, ...], rule: Rule, ratios: tuple[float | None, ...] = ()) -> Tensor:
    """The last axes of a value, to these sizes. `ratios`: input pixels an output pixel, where not simply the sizes'."""
    for axis, new in zip(range(-len(sizes), 0), sizes, strict=True):
        old = value.shape[axis]
        ratio = (ratios[axis] if ratios else None) or old / new
        weights = _weights(old, new, rule, ratio).to(value.dtype)
        value = (value.movedim(axis, -1) @ weights.T).movedim(-1, axis)
    return value


def _weights(old: int, new: int, rule: Rule, ratio: float) -> Tensor:
    at = _PLACES[rule.place](torch.arange(new, dtype=torch.float64), old, new, ratio)
    if rule.kernel.startswith("nearest"):
        return torch.nn.functional.one_hot(_nearest(at, rule.kernel).clamp(0, old - 1), old).double()
    if rule.smooth:
        return _smoothed(at, old, max(ratio, 1.0), rule)
    if rule.kernel == "linear":
        at = at.clamp(0, old - 1)
    base = at.floor().long()
    reach = range(0, 2) if rule.kernel == "linear" else range(-1, 3)
    weights = torch.zeros(new, old, dtype=torch.float64)
    for step in reach:
        column = (base + step).clamp(0, old - 1)
        weights.scatter_add_(1, column[:, None], _kernel(at - (base + step), rule)[:, None])
    return weights


def _nearest(at: Tensor, kernel: str) -> Tensor:
    rounds = {"nearest floor": at.floor(), "nearest up": (at + 0.5).floor(), "nearest down": (at - 0.5).ceil()}
    return rounds[kernel].long()


def _smoothed(at: Tensor, old: int, width: float, rule: Rule) -> Tensor:
    """Antialiased: the kernel is as wide as the step, and pixels outside do not count."""
    weights = _kernel((at[:, None] - torch.arange(old, dtype=torch.float64)) / width, rule)
    return weights / weights.sum(1, keepdim=True)


def _kernel(offset: Tensor, rule: Rule) -> Tensor:
    far = offset.abs()
    if rule.kernel == "linear":
        return (1 - far).clamp(min=0)
    a = rule.sharpness
    near = ((a + 2) * far - (a + 3)) * far * far + 1
    tail = ((far - 5) * far + 8) * far * a - 4 * a
    return torch.where(far <= 1, near, torch.where(far < 2, tail, torch.zeros_like(far)))
