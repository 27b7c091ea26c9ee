"""From the bytes of tensors that were counted to what a real card must have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sleuth import handbook
from sleuth.amounts import in_bytes
from sleuth.dry.memory import savings
from sleuth.findings import Evidence, Finding, Fix, Link, place_from_json

_MEBIBYTE = 1 << 20
# What a process takes of a card before its first tensor: CUDA's context and the kernels it loads. It is what nvidia-smi
# shows beyond torch.cuda.memory_reserved(), and depends on the card and the CUDA version.
_CONTEXT = (400 * _MEBIBYTE, 600 * _MEBIBYTE)
# What cuBLAS works in: 8,519,680 bytes on most cards (discuss.pytorch.org/t/178671); 32 MiB, and as much again for
# cuBLASLt, on Hopper and later (pytorch#120925).
_CUBLAS = (8_519_680, 64 * _MEBIBYTE)
# What the caching allocator holds and cannot hand out (it takes memory in pieces of 2 MiB and 20 MiB, and holes stay
# between tensors of different sizes), and what cuDNN works in. Reports of cards that ran full show 22.07 GiB held for
# 21.03 GiB of tensors (speechbrain#1850), and 20.22 for 16.91 where sizes change (liuQuan98/EYOC#6).
_LOST = (0.0, 0.05, 0.20)


@dataclass(frozen=True, slots=True)
class Need:
    """What a card must have: at least, most likely, and to be on the safe side."""

    least: int
    likely: int
    most: int


def need(peak: int) -> Need:
    """What a card must have for tensors of so many bytes."""
    low, high = _CONTEXT[0] + _CUBLAS[0], _CONTEXT[1] + _CUBLAS[1]
    least, middle, most = (int(peak * (1 + lost)) for lost in _LOST)
    return Need(least + low, middle + (low + high) // 2, most + high)


def room(card: int) -> int:
    """The most bytes of tensors that may fit a card at all."""
    return card - _CONTEXT[0] - _CUBLAS[0]


def safe_room(card: int) -> int:
    """The most bytes of tensors that surely fit a card."""
    return int((card - _CONTEXT[1] - _CUBLAS[1]) / (1 + _LOST[-1]))


def sentence(memory: dict[str, Any], card: int) -> str:
    """What the program needs of its cards, in one line; nothing where it uses none."""
    needs = {device: need(about["peak"]) for device, about in memory["devices"].items() if device != "cpu"}
    if not needs:
        return ""
    most = max(needs, key=lambda device: needs[device].most)
    kinds = sorted(memory["devices"][most]["kinds"].items(), key=lambda item: -item[1])
    held = ", ".join(f"{kind} {in_bytes(size)}" for kind, size in kinds[:4] if size)
    where = most if len(needs) == 1 else f"{most} most"
    return (
        f"needs {in_bytes(needs[most].least)} to {in_bytes(needs[most].most)} on {where}, of {in_bytes(card)}; "
        f"at the peak: {held}"
    )


def findings(memory: dict[str, Any], card: int, layers: int) -> Iterator[Finding]:
    """One for each card on which the program does not fit."""
    for device, about in memory["devices"].items():
        needed = need(about["peak"])
        if device != "cpu" and needed.likely > card:
            yield _finding(device, about, needed, card, layers, memory["batch"])


def _finding(device: str, about: dict[str, Any], needed: Need, card: int, layers: int, batch: int | None) -> Finding:
    # Where the real card would raise; where it may just fit, what holds the most.
    place = about["full at"] or (about["lines"][0]["place"] if about["lines"] else None)
    return handbook.finding(
        "does-not-fit-the-card",
        place=place_from_json(place),
        title=f"needs {in_bytes(needed.least)} to {in_bytes(needed.most)} of a card of {in_bytes(card)}",
        certainty="certain" if needed.least > card else "likely",
        severity="error",
        evidence=[
            Evidence("card", f"{device}, {in_bytes(card)}"),
            Evidence("tensors held at the peak", in_bytes(about["peak"])),
            *(Evidence(kind, in_bytes(size)) for kind, size in about["kinds"].items() if size * 100 >= about["peak"]),
        ],
        chain=_story(about),
        fixes=[
            Fix(f"{one.what}: saves about {in_bytes(one.size)} ({one.why})")
            for one in savings.of(about, layers, batch, safe_room(card))
        ],
    )


def _story(about: dict[str, Any]) -> Iterator[Link]:
    if about["full at"] is not None:
        yield Link("the card is full here", place_from_json(about["full at"]))
    for line in about["lines"]:
        if line["bytes"] * 20 >= about["peak"]:
            yield Link(f"holds {in_bytes(line['bytes'])}, mostly {line['kind']}", place_from_json(line["place"]))
    for layer in about["layers"]:
        if layer["bytes"] * 10 >= about["peak"]:
            yield Link(f"layer {layer['layer']} holds {in_bytes(layer['bytes'])}, mostly {layer['kind']}")
