"""What one rehearsal pretends: which program, on which devices, with which numbers, in which corner."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from sleuth.findings import Edit

GIBIBYTE = 1 << 30
# What most people who own a card own, and what a rented one has at least.
USUAL_CARD = 24 * GIBIBYTE

_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
Numbers = Literal["real", "fake"]


@dataclass(frozen=True, slots=True)
class Scenario:
    """One rehearsal. It travels to the process that holds it as JSON."""

    target: str
    arguments: tuple[str, ...] = ()
    module: bool = False
    # The pretended accelerator, e.g. ("cuda", 2); "cpu" pretends none.
    device: str = "cuda"
    cards: int = 1
    card_bytes: int = USUAL_CARD
    # Real numbers on the CPU, or fake tensors that have a shape and no numbers.
    numbers: Numbers = "real"
    # The name of a module of `dry.corners`, "" for the plain rehearsal.
    corner: str = ""
    # How many iterations of a loop that trains are run before it is cut short.
    rounds: int = 2
    seconds: float = 60.0
    # Batches of another size than the program's own; 0 leaves them alone.
    batch: int = 0
    # Whether the files of the rehearsal before are still there.
    keeps_files: bool = False
    # Nothing is pretended but that files are written: whether a crash was the program's own.
    bare: bool = False
    # How many processes the program believes to be one of; 0 leaves it alone.
    ranks: int = 0
    # Changes of the program's own source that are tried: nothing is written, it is only read so.
    edits: tuple[Edit, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Scenario:
        known = {field.name for field in fields(cls)}
        given = {name: value for name, value in data.items() if name in known}
        edits = tuple(Edit(**edit) for edit in data.get("edits", ()))
        return cls(**{**given, "arguments": tuple(data.get("arguments", ())), "edits": edits})


def bytes_of(text: str) -> int:
    """`80GB`, `24 GiB`, `512M` in bytes. Raises ValueError."""
    told = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if told is None or not float(told[1]):
        raise ValueError(f"{text!r} is not a size such as 24GB")
    return int(float(told[1]) * _UNITS[told[2].upper()])
