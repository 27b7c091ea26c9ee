"""The devices there seem to be, and the one label each way of naming them comes to."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch

from sleuth.dry.pretend.errors import invalid_ordinal
from sleuth.dry.scenario import Scenario

CPU = "cpu"
META = "meta"


class Devices:
    """What is pretended: `kind` is "cuda", "mps" or, for none at all, "cpu"."""

    def __init__(self, scenario: Scenario) -> None:
        self.kind = scenario.device.split(":")[0]
        self.count = 0 if self.kind == CPU else max(scenario.cards, _number(scenario.device) + 1)
        self.current = 0

    def label(self, device: Any) -> str:
        """`1` and `torch.device("cuda", 1)` as `"cuda:1"`. Raises what torch does for a card that is not there."""
        if isinstance(device, bool):
            raise TypeError(f"a device, not {device!r}")
        if isinstance(device, int):
            device = torch.device(self.kind if self.kind != CPU else "cuda", device)
        elif not isinstance(device, torch.device):
            device = torch.device(device)
        if device.type in (CPU, META):
            return str(device.type)
        if device.type != self.kind:
            torch.empty(0, device=device)  # raises as it does on a machine without one
            return str(device)
        index = self.current if device.index is None else device.index
        if index >= self.count:
            raise invalid_ordinal()
        return f"{device.type}:{index}"

    def is_pretended(self, device: Any) -> bool:
        """Is it a device that only seems to be there?"""
        return self.kind != CPU and torch.device(device).type == self.kind


@cache
def device_of(label: str) -> torch.device:
    return torch.device(label)


def _number(device: str) -> int:
    _, _, number = device.partition(":")
    return int(number) if number.isdigit() else 0
