"""Batch normalisation that the other file has folded into the layer before it: W·γ/√(σ²+ε) and β+(b−μ)·γ/√(σ²+ε)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleuth.compare.values import Array
from sleuth.compare.weights.changes import Change
from sleuth.compare.weights.rounding import rounding

# As PyTorch, Keras, ONNX and older TensorFlow call them.
_ROLES = {
    "mean": ("running_mean", "moving_mean", "mean"),
    "variance": ("running_var", "moving_variance", "var", "variance"),
    "scale": ("weight", "gamma", "scale"),
    "shift": ("bias", "beta", "offset"),
}
# Those in use, so that a round number is told; any other is found from the numbers themselves.
_USUAL_EPSILONS = (1e-5, 1e-3, 1e-6, 1e-4, 1e-8)
# Nobody adds more than this to a variance.
_LARGEST_EPSILON = 0.1
# Norms of channels are only a quick look; half precision moves them by less.
_NORMS_APART = 1e-2
_SEPARATOR = re.compile(r"[./]")


@dataclass(frozen=True, slots=True)
class Norm:
    """The arrays of one batch normalisation. Scale and shift may be left out."""

    name: str
    mean: str
    variance: str
    scale: str | None = None
    shift: str | None = None


@dataclass(frozen=True, slots=True)
class Fold:
    """A layer and its normalisation in one file that are one layer in the other. `axis` of so many is the channels'."""

    weight: str
    bias: str | None
    norm: Norm
    epsilon: float
    axis: int
    axes: int
    change: Change
    off: float
    folded_weight: str
    folded_bias: str

    @property
    def sources(self) -> tuple[str, ...]:
        named = (self.weight, self.bias, self.norm.scale, self.norm.shift, self.norm.mean, self.norm.variance)
        return tuple(name for name in named if name is not None)

    def factor_code(self) -> str:
        scale = "1" if self.norm.scale is None else f"weights[{self.norm.scale!r}]"
        return f"({scale} / np.sqrt(weights[{self.norm.variance!r}] + {self.epsilon:g}))"

    def weight_code(self) -> str:
        shape = tuple(-1 if axis == self.axis else 1 for axis in range(self.axes))
        return self.change.code(f"(weights[{self.weight!r}] * {self.factor_code()}.reshape{shape})")

    def bias_code(self, shape: tuple[int, ...]) -> str:
        bias = "0" if self.bias is None else f"weights[{self.bias!r}]"
        shift = "0" if self.norm.shift is None else f"weights[{self.norm.shift!r}]"
        code = f"({shift} + ({bias} - weights[{self.norm.mean!r}]) * {self.factor_code()})"
        return code if len(shape) == 1 else f"{code}.reshape({shape})"


Alike = Callable[[Array, Array], Any]


def norms(arrays: Mapping[str, Array]) -> Iterator[Norm]:
    """Whatever has a mean and a variance beside each other, of the same length."""
    for name, mean in arrays.items():
        layer, last = _parted(name)
        if last not in _ROLES["mean"] or mean.ndim != 1:
            continue
        found = {role: _beside(arrays, layer, words, mean.size) for role, words in _ROLES.items()}
        if found["variance"] is not None:
            yield Norm(layer, name, found["variance"], found["scale"], found["shift"])


def folds(
    apart: Mapping[str, Array],
    layers: list[str],
    folded: Mapping[str, Array],
    biases: Mapping[str, Array],
    alike: Alike,
) -> Iterator[Fold]:
    """`apart` is the file with normalisations, `layers` its weights that are looked for in `folded`, whose shifts are
    among `biases`. Each is believed only where weight and bias both come out as the numbers they are."""
    left, open_layers, shifts = dict(folded), list(layers), dict(biases)
    for norm in norms(apart):
        found = next(_of_norm(norm, apart, open_layers, left, shifts, alike), None)
        if found is not None:
            yield found
            open_layers.remove(found.weight)
            for name in (found.folded_weight, found.folded_bias):
                left.pop(name, None)
                shifts.pop(name, None)


def _of_norm(
    norm: Norm,
    apart: Mapping[str, Array],
    layers: list[str],
    folded: Mapping[str, Array],
    biases: Mapping[str, Array],
    alike: Alike,
) -> Iterator[Fold]:
    channels = apart[norm.mean].size
    for layer in layers:
        weight = apart[layer]
        for axis in (axis for axis, length in enumerate(weight.shape) if length == channels and weight.ndim > 1):
            for name, theirs in folded.items():
                if theirs.size == weight.size and theirs.ndim > 1:
                    for epsilon in _epsilons(norm, apart, weight, axis, theirs):
                        factor = _factor(norm, apart, epsilon)
                        match = alike(weight * _along(factor, axis, weight.ndim), theirs)
                        if match is None:
                            continue
                        own = _beside(apart, _parted(layer)[0], _ROLES["shift"], channels)
                        for shift in _shifts(norm, apart, own, factor, _nearest_first(biases, name)):
                            yield Fold(
                                layer, own, norm, epsilon, axis, weight.ndim, match.change, match.off, name, shift
                            )


def _epsilons(norm: Norm, apart: Mapping[str, Array], weight: Array, axis: int, theirs: Array) -> Iterator[float]:
    """The usual ones, then the one that the sizes of the channels tell, where these fit at all."""
    ours = _norms_along(weight, axis)
    for other in (axis for axis, length in enumerate(theirs.shape) if length == ours.size):
        wanted = _norms_along(theirs, other)
        told = _told_epsilon(norm, apart, ours, wanted)
        fitting = [
            epsilon
            for epsilon in (*_USUAL_EPSILONS, *told)
            if np.allclose(ours * np.abs(_factor(norm, apart, epsilon)), wanted, _NORMS_APART, 0.0)
        ]
        if fitting:
            yield from fitting
            return


def _told_epsilon(norm: Norm, apart: Mapping[str, Array], ours: Array, wanted: Array) -> list[float]:
    """By the channel of the least variance, where it weighs most."""
    variance = apart[norm.variance]
    scale = np.abs(apart[norm.scale]) if norm.scale is not None else np.ones_like(variance)
    usable = (wanted > 0) & (ours > 0) & (scale > 0)
    if not usable.any():
        return []
    least = int(np.argmin(np.where(usable, variance, np.inf)))
    epsilon = float((scale[least] * ours[least] / wanted[least]) ** 2 - variance[least])
    return [epsilon] if 0 <= epsilon <= _LARGEST_EPSILON else []


def _factor(norm: Norm, apart: Mapping[str, Array], epsilon: float) -> Array:
    scale = 1.0 if norm.scale is None else apart[norm.scale]
    # What is no variance gives no number, and then nothing is alike.
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(scale / np.sqrt(apart[norm.variance] + epsilon))


def _nearest_first(biases: Mapping[str, Array], weight: str) -> dict[str, Array]:
    """Where several hold the same numbers, it is the one beside the weight."""
    layer = _parted(weight)[0]
    return dict(sorted(biases.items(), key=lambda one: _parted(one[0])[0] != layer))


def _shifts(
    norm: Norm, apart: Mapping[str, Array], own: str | None, factor: Array, biases: Mapping[str, Array]
) -> Iterator[str]:
    """The arrays that are the layer's own bias, if it has one, scaled and shifted."""
    bias = 0.0 if own is None else apart[own]
    moved = (bias - apart[norm.mean]) * factor
    shift = np.zeros_like(moved) if norm.shift is None else apart[norm.shift]
    # The sum may be small where its terms are not.
    scale = max(float(np.abs(moved).max()), float(np.abs(shift).max()))
    for name, theirs in biases.items():
        if theirs.size == moved.size:
            off = np.abs(moved + shift - theirs.reshape(-1)).max()
            if off <= scale * rounding(theirs, theirs):
                yield name


def _norms_along(array: Array, axis: int) -> Array:
    others = tuple(one for one in range(array.ndim) if one != axis)
    return np.asarray(np.sqrt((array**2).sum(others)))


def _along(factor: Array, axis: int, dimensions: int) -> Array:
    return factor.reshape([-1 if one == axis else 1 for one in range(dimensions)])


def _beside(arrays: Mapping[str, Array], layer: str, words: tuple[str, ...], length: int) -> str | None:
    for name, array in arrays.items():
        whose, last = _parted(name)
        if whose == layer and last in words and array.shape == (length,):
            return name
    return None


def _parted(name: str) -> tuple[str, str]:
    """`block.bn`, `running_mean`, of `block.bn.running_mean` or `block/bn/moving_mean:0`."""
    parts = _SEPARATOR.split(name.removesuffix(":0"))
    return ".".join(parts[:-1]), parts[-1]
