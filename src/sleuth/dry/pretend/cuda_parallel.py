"""Several cards in one process: tensors sent among them, and `nn.DataParallel`, where each card's share of the batch
goes through the module one after the other, on the first card."""

from __future__ import annotations

import importlib
import warnings
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    def forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        home = self.src_device_obj
        for tensor in chain(self.module.parameters(), self.module.buffers()):
            if tensor.device != home:
                raise RuntimeError(
                    f"module must have its parameters and buffers on device {home} (device_ids[0]) but found one of "
                    f"them on device: {tensor.device}"
                )
        shares = _shares((inputs, kwargs), len(self.device_ids), self.dim, home)
        outputs = [self.module(*given, **options) for given, options in shares]
        return outputs[0] if len(self.device_ids) == 1 else _gathered(outputs, self.dim)

    stage.patches.set(nn.DataParallel, "forward", forward)
    for owner in (torch.nn.parallel.comm, importlib.import_module("torch.cuda.comm")):
        for function in (broadcast, broadcast_coalesced, reduce_add, reduce_add_coalesced, scatter, gather):
            stage.patches.set(owner, function.__name__, function)


def broadcast(tensor: Any, devices: Any = None, *, out: Any = None) -> tuple[Any, ...]:
    if out is not None:
        return tuple(one.copy_(tensor) for one in out)
    return tuple(tensor.to(_card(device)) for device in devices)


def broadcast_coalesced(tensors: Any, devices: Any, buffer_size: int = 0) -> list[tuple[Any, ...]]:
    return [tuple(tensor.to(_card(device)) for tensor in tensors) for device in devices]


def reduce_add(inputs: Any, destination: Any = None) -> Any:
    return sum(one.to(_card(destination)) for one in inputs)


def reduce_add_coalesced(inputs: Any, destination: Any = None, buffer_size: int = 0) -> tuple[Any, ...]:
    return tuple(reduce_add(row, destination) for row in zip(*inputs, strict=True))


def scatter(
    tensor: Any, devices: Any = None, chunk_sizes: Any = None, dim: int = 0, streams: Any = None, *, out: Any = None
) -> tuple[Any, ...]:
    if out is not None:
        parts = tensor.split([one.size(dim) for one in out], dim)
        return tuple(one.copy_(part) for one, part in zip(out, parts, strict=True))
    parts = tensor.chunk(len(devices), dim) if chunk_sizes is None else tensor.split(chunk_sizes, dim)
    return tuple(part.to(_card(device)) for part, device in zip(parts, devices, strict=False))


def gather(tensors: Any, dim: int = 0, destination: Any = None, *, out: Any = None) -> Any:
    home = _card(destination) if out is None else out.device
    whole = torch.cat([one.to(home) for one in tensors], dim)
    return whole if out is None else out.copy_(whole)


def _card(device: Any) -> torch.device:
    """None is the current card, -1 the CPU."""
    if device is None:
        return torch.device("cuda", torch.cuda.current_device())
    if isinstance(device, int):
        return torch.device("cuda", device) if device >= 0 else torch.device("cpu")
    return torch.device(device)


def _shares(given: Any, cards: int, dim: int, home: torch.device) -> list[Any]:
    """What each card gets: tensors are cut along the batch, everything else is handed to all."""
    if isinstance(given, torch.Tensor):
        return [part.to(home) for part in given.chunk(cards, dim)] if cards > 1 else [given.to(home)]
    if isinstance(given, dict):
        parts = {name: _shares(value, cards, dim, home) for name, value in given.items()}
        return [{name: part[i] for name, part in parts.items()} for i in range(_fewest(parts.values(), cards))]
    if isinstance(given, list | tuple):
        rows = [_shares(value, cards, dim, home) for value in given]
        kind = type(given)
        made: list[Any] = []
        for i in range(_fewest(rows, cards)):
            row = [part[i] for part in rows]
            made.append(kind(*row) if hasattr(kind, "_fields") else kind(row))
        return made
    return [given] * cards


def _fewest(parts: Any, cards: int) -> int:
    """A batch smaller than the number of cards leaves some of them idle."""
    return min((len(part) for part in parts), default=cards)


def _gathered(outputs: list[Any], dim: int) -> Any:
    first = outputs[0]
    if isinstance(first, torch.Tensor):
        if all(one.dim() == 0 for one in outputs) and dim == 0:
            warnings.warn(
                "Was asked to gather along dimension 0, but all input tensors were scalars; will instead unsqueeze and "
                "return a vector.",
                stacklevel=2,
            )
            return torch.stack(outputs)
        return torch.cat(outputs, dim)
    if first is None:
        return None
    if isinstance(first, dict):
        return type(first)((name, _gathered([one[name] for one in outputs], dim)) for name in first)
    if hasattr(first, "_fields"):
        return type(first)(*(_gathered(list(parts), dim) for parts in zip(*outputs, strict=False)))
    if isinstance(first, list | tuple):
        return type(first)(_gathered(list(parts), dim) for parts in zip(*outputs, strict=False))
    return first
