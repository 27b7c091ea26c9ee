"""`torch.Generator(device="cuda")`: one of the CPU's that says it is on the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Real = torch.Generator


class _Kind(type(_Real)):  # type: ignore[misc]
    """Generators that were made before the rehearsal, or by torch itself, are generators, too."""

    def __instancecheck__(cls, one: Any) -> bool:
        return isinstance(one, _Real)


class _Generator(_Real, metaclass=_Kind):
    """Drawn from as any other; `device` is where it seems to be."""

    stage: Stage
    label: str

    def __new__(cls, device: Any = None) -> _Generator:
        made = super().__new__(cls, "cpu")  # type: ignore[call-arg]
        made.label = "cpu" if device is None else cls.stage.devices.label(device)
        return made

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        return torch.device(self.label)


def install(stage: Stage) -> None:
    if stage.devices.kind == "cpu":
        return
    kind = _Kind("Generator", (_Generator,), {"stage": stage, "__module__": "torch"})
    stage.patches.set(torch, "Generator", kind)
    if stage.devices.kind == "cuda":
        cards = tuple(kind(f"cuda:{index}") for index in range(stage.devices.count))
        stage.patches.set(torch.cuda, "default_generators", cards)
