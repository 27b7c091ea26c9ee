"""What could be saved of the memory that was counted, reckoned from what it is held for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sleuth.dry.memory.ledger import ACTIVATIONS, DATA, OPTIMISER, WEIGHTS

# Less than this share of the peak is not worth a change of the program.
_WORTH = 0.03
# Adam and its kin keep two numbers a weight, momentum one.
_TWO_NUMBERS = 1.5


@dataclass(frozen=True, slots=True)
class Saving:
    what: str
    size: int
    why: str


def of(about: dict[str, Any], layers: int, batch: int | None, room: int) -> list[Saving]:
    """The changes worth making, the one that saves most first; `room` is for tensors alone."""
    found = [*_smaller_batch(about, batch, room), *_checkpointing(about, layers), *_halves(about), *_optimiser(about)]
    worth = [one for one in found if one.size >= _WORTH * about["peak"]]
    return sorted(worth, key=lambda one: -one.size)


def _smaller_batch(about: dict[str, Any], batch: int | None, room: int) -> Iterator[Saving]:
    """What the forward pass holds grows with the batch; weights, gradients and optimiser do not."""
    kinds = about["kinds"]
    grows = kinds[ACTIVATIONS] + kinds[DATA]
    if batch is None or batch < 2:
        yield Saving("halve the batch", grows // 2, "half of activations and data, which grow with it")
        return
    fixed = about["peak"] - grows
    fits = max(1, min(batch - 1, int(batch * (room - fixed) / grows))) if grows else batch
    saved = int(grows * (1 - fits / batch))
    enough = "" if fixed + grows * fits / batch <= room else "; that alone is not enough"
    yield Saving(
        f"a batch of {fits:,} instead of {batch:,}", saved, f"{_share(fits, batch)} of activations and data{enough}"
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * (whole - part) / whole:.0f} %"


def _checkpointing(about: dict[str, Any], layers: int) -> Iterator[Saving]:
    """Of n layers in √n stretches only the start of each stretch is kept, and one stretch at a time in full."""
    held = about["kinds"][ACTIVATIONS]
    kept = 2 / math.sqrt(layers) if layers else 1.0
    if kept < 1:
        why = f"keeps 2/√n of the activations for n = {layers:,} layers, and costs one more forward pass"
        yield Saving("activation checkpointing (torch.utils.checkpoint)", int(held * (1 - kept)), why)


def _halves(about: dict[str, Any]) -> Iterator[Saving]:
    """Autocast keeps activations in two bytes a number instead of four, and a copy of the weights beside them."""
    by_dtype = about["activations by dtype"]
    if by_dtype.get("bfloat16") or by_dtype.get("float16"):
        return
    saved = by_dtype.get("float32", 0) // 2 - about["kinds"][WEIGHTS] // 2
    why = "at most half of the float32 activations, less a copy of the weights"
    yield Saving("bfloat16 autocast", saved, why)


def _optimiser(about: dict[str, Any]) -> Iterator[Saving]:
    held, weights = about["kinds"][OPTIMISER], about["kinds"][WEIGHTS]
    if held > _TWO_NUMBERS * weights:
        yield Saving("8-bit Adam", held * 3 // 4, "one byte for each number of the optimiser's state instead of four")
        yield Saving("SGD with momentum", held // 2, "one number a weight instead of Adam's two")
    elif held:
        yield Saving("SGD without momentum", held, "it keeps no state")
