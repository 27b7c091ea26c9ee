"""Checkpoints say where their tensors were, and loading puts them there again: by label, as everything here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import serialization

from sleuth.dry.pretend.devices import CPU
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_NO_CARD = (
    "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a "
    "CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
)
_NO_SUCH_CARD = (
    "Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is {count}. Please use "
    "torch.load with map_location to map your storages to an existing device."
)


def install(stage: Stage) -> None:
    plain_tag: Any = serialization.location_tag

    def location_tag(storage: Any) -> Any:
        return stage.mode.storages.get(getattr(storage, "_cdata", -1)) or plain_tag(storage)

    def restore_location(map_location: Any) -> Callable[[Any, str], Any]:
        def restore(storage: Any, location: str) -> Any:
            stage.mode.storages[storage._cdata] = _checked(stage, _wanted(map_location, location))
            return storage

        return restore

    plain_rebuild = torch_private.get("torch._utils._rebuild_tensor")

    def rebuild(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Any:
        made = plain_rebuild(storage, storage_offset, size, stride)
        untyped = getattr(storage, "_untyped_storage", storage)
        stage.mode.settle(made, stage.mode.storages.get(untyped._cdata, CPU), "load")
        return made

    if plain_rebuild is not None:
        stage.patches.set(torch._utils, "_rebuild_tensor", rebuild)
    stage.patches.set(serialization, "location_tag", location_tag)
    stage.patches.set(serialization, "_get_restore_location", restore_location)


def _wanted(map_location: Any, location: str) -> str:
    """The device a stored tensor is to go to."""
    if map_location is None:
        return location
    if isinstance(map_location, dict):
        return str(map_location.get(location, location))
    if isinstance(map_location, str | torch.device):
        return str(map_location)
    # A function such as `lambda storage, location: storage`, which leaves it on the CPU.
    return CPU


def _checked(stage: Stage, wanted: str) -> str:
    devices = stage.devices
    if wanted.startswith("cuda") and devices.kind != "cuda":
        raise RuntimeError(_NO_CARD)
    _, _, number = wanted.partition(":")
    if wanted.startswith("cuda") and number and int(number) >= devices.count:
        raise RuntimeError(_NO_SUCH_CARD.format(index=number, count=devices.count))
    return devices.label(wanted)
