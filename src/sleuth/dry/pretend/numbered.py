"""`model.to(0)` and `torch.device(1)`: a bare number means a card, and C++ knows of none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.pretend.devices import CPU
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Device = torch.device


class _Kind(type):
    """Stands for `torch.device`: every device is one of its instances, and calling it makes a real one."""

    kind: str

    def __call__(cls, *args: Any, **kwargs: Any) -> torch.device:
        if len(args) == 1 and isinstance(args[0], int) and not kwargs:
            return _Device(cls.kind, args[0])
        return _Device(*args, **kwargs)

    def __instancecheck__(cls, one: Any) -> bool:
        return isinstance(one, _Device)

    def __getattr__(cls, name: str) -> Any:
        return getattr(_Device, name)


def install(stage: Stage) -> None:
    kind = stage.devices.kind
    if kind == CPU:
        return
    plain = torch_private.get("torch._C._nn._parse_to")

    def parse_to(*args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], int) and not isinstance(args[0], bool):
            args = (_Device(kind, args[0]), *args[1:])
        if isinstance(kwargs.get("device"), int):
            kwargs["device"] = _Device(kind, kwargs["device"])
        return plain(*args, **kwargs)

    if plain is not None:
        stage.patches.set(torch._C._nn, "_parse_to", parse_to)
    stage.patches.set(torch, "device", _Kind("device", (), {"kind": kind, "__module__": "torch"}))
