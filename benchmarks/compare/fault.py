"""What one fault is: what was done, where it is in the reference, and what a person would call its cause."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# Less than this, relative to the outputs, and the fault is invisible: it is dropped and counted.
INVISIBLE = 3e-6
_LEAST, _MOST = 1e-4, 1.0


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the reference: a layer of PyTorch's own as a whole, or one operation of a module's forward.

    `lines` are the lines of networks.py on the way to it, outermost first; `fused` says that the layer before went
    into it, `folded` that operations on weights alone may have."""

    layer: str
    whole: bool
    node: str = ""
    op: str = ""
    lines: tuple[int, ...] = ()
    nth: int | None = None
    fused: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """`cause` is the plain word for it where it has one that a comparison could name, or else empty."""

    family: str
    what: str
    spots: tuple[Spot, ...]
    target: str
    cause: str = ""
    amount: float | None = None
    change: float = field(default=0.0, compare=False)

    @property
    def nameable(self) -> bool:
        return bool(self.cause)


class Unfit(Exception):
    """This fault cannot be put here."""


def amount(rng: np.random.Generator, least: float = _LEAST, most: float = _MOST) -> float:
    """Small and large alike: log-uniform, of either sign."""
    return float(math.exp(rng.uniform(math.log(least), math.log(most))) * rng.choice([-1.0, 1.0]))


def pick(rng: np.random.Generator, choices: Any) -> Any:
    listed = list(choices)
    if not listed:
        raise Unfit
    return listed[int(rng.integers(len(listed)))]
