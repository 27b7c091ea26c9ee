"""The names the user gave things: parameters, buffers, and the variables that hold a tensor."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from sleuth.live.snapshot import is_a
from sleuth.program import users_frame


def same_memory(one: Tensor, other: Tensor) -> bool:
    if one is other:
        return True
    if one.layout != torch.strided or other.layout != torch.strided or is_lazy(one) or is_lazy(other):
        return False
    return bool(one.untyped_storage()._cdata == other.untyped_storage()._cdata)


@dataclass(frozen=True, slots=True)
class Entry:
    """A parameter or buffer under its dotted name in its outermost module."""

    name: str
    kind: Literal["parameter", "buffer"]
    tensor: Tensor


def module_entry(tensor: Tensor) -> Entry | None:
    """The parameter or buffer whose memory this tensor shows."""
    modules = [thing for thing in gc.get_objects() if is_a(thing, nn.Module)]
    children = {id(child) for module in modules for child in module._modules.values() if child is not None}
    roots = [module for module in modules if id(module) not in children]
    for root in roots:
        for name, parameter in root.named_parameters():
            if same_memory(parameter, tensor):
                return Entry(name, "parameter", parameter)
        for name, buffer in root.named_buffers():
            if same_memory(buffer, tensor):
                return Entry(name, "buffer", buffer)
    return None


def variable_name(tensor: Tensor, frame: FrameType | None = None) -> str | None:
    """The name of a variable, in the user's frames from here outwards, that holds this tensor's memory."""
    frame = users_frame(frame or sys._getframe(1))
    while frame is not None:
        name = _among(frame.f_locals.items(), tensor) or _among(frame.f_globals.items(), tensor)
        if name is not None:
            return name
        frame = users_frame(frame.f_back)
    return None


def _among(items: Iterable[tuple[str, Any]], tensor: Tensor) -> str | None:
    # Snapshots first: looking at attributes may add names to a live module's namespace.
    fallback = None
    for name, value in list(items):
        if isinstance(value, Tensor) and same_memory(value, tensor):
            if value.shape == tensor.shape:
                return name
            fallback = fallback or name
        elif fallback is None and not isinstance(value, type | ModuleType | nn.Module):
            fallback = _inside(name, value, tensor)
    return fallback


def _inside(name: str, value: Any, tensor: Tensor) -> str | None:
    if isinstance(value, dict):
        parts = [(f"{name}[{key!r}]", item) for key, item in list(value.items())[:64]]
    elif isinstance(value, list | tuple):
        parts = [(f"{name}[{index}]", item) for index, item in enumerate(value[:64])]
    else:
        parts = [(f"{name}.{key}", item) for key, item in list(getattr(value, "__dict__", {}).items())[:64]]
    for part, item in parts:
        if isinstance(item, Tensor) and same_memory(item, tensor):
            return part
        if isinstance(item, tuple | list) and item and isinstance(item[0], Tensor):
            for index, element in enumerate(item[:64]):
                if isinstance(element, Tensor) and same_memory(element, tensor):
                    return f"{part}[{index}]"
    return None
