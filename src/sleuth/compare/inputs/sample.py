"""One batch to compare on, with a name for it."""

from __future__ import annotations

from dataclasses import dataclass

from sleuth.compare.values import Batch


@dataclass(frozen=True, slots=True)
class Sample:
    """`label` says in a few words what it is: `random`, `zeros`, `batch 2 of loader`; `seed` what it was drawn with."""

    label: str
    batch: Batch
    seed: int | None = None
