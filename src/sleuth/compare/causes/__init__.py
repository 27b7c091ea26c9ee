"""Why two models part: a cause is a way to compute one operation otherwise; one that gives the target's values is it.

One cause a file, named after its diagnosis; no list to edit. A file holds `OPS`, the operations it is about, and
`propose(call, target) -> Iterable[Proposal]`."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from torch import Tensor

from sleuth.compare.reference import Call, Override
from sleuth.compare.values import Array


@dataclass(frozen=True, slots=True)
class Proposal:
    """One way in which the operation may be computed in the target.

    `says` is the cause in a sentence's second half, the same for every node that has the same fault: "its epsilon is
    0.001, not 1e-05"; `fix` what to change. Of several that fit, the one of the lowest `rank` is believed: 0 for a
    known mistake, more for what can be fitted to much."""

    says: str
    fix: str
    apply: Override
    rank: int = 0


# The operations of a cause that may befall any of them.
ANY = frozenset({"*"})

# What an override leaves unexplained, in units of the noise.
Judge = Callable[[Override], float]


@dataclass(frozen=True, slots=True)
class Target:
    """What a cause may ask about the other side: its value where they part, in the reference's layout, and its weights.

    `originals` are the reference's weights; `judge` tries an override at the place that is asked about; `strays` are
    values of the target that are none of the reference's; `again` is the value in a second run on the same inputs,
    where there was one."""

    value: Array
    precision: str = "float32"
    weights: Mapping[str, Array] = field(default_factory=dict)
    originals: Mapping[str, Array] = field(default_factory=dict)
    judge: Judge | None = None
    strays: Sequence[Array] = ()
    again: Array | None = None


class Cause(Protocol):
    """`behind(value)`, where a cause has it, proposes what may have been done to a value before anything used it."""

    OPS: frozenset[str]

    def propose(self, call: Call, target: Target) -> Iterable[Proposal]: ...


@cache
def all_causes() -> Mapping[str, Cause]:
    """By diagnosis."""
    found: dict[str, Cause] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            cause: Cause = importlib.import_module(f"{__name__}.{module.name}")
            if hasattr(cause, "propose"):
                found[module.name.replace("_", "-")] = cause
    return found


def proposals(call: Call, target: Target, only: str = "") -> Iterator[tuple[str, Proposal]]:
    """All that may be the matter with this operation, with their diagnoses; or what one diagnosis has to say."""
    for diagnosis, cause in all_causes().items():
        if only in ("", diagnosis) and (call.op in cause.OPS or cause.OPS == ANY):
            try:
                offered = list(cause.propose(call, target))
            except (
                RuntimeError,
                IndexError,
                ValueError,
                TypeError,
                KeyError,
            ):  # an operation in a form it did not expect
                continue
            yield from ((diagnosis, proposal) for proposal in offered)


def proposals_behind(value: Tensor) -> Iterator[tuple[str, Proposal]]:
    """What may have been done to a value that is itself right."""
    for diagnosis, cause in all_causes().items():
        if hasattr(cause, "behind"):
            for proposal in cause.behind(value):
                yield diagnosis, proposal
