"""What the program has built, in the order it was made: models, optimisers and gradient scalers.

The order is what tells two like-named networks apart, and what a second process has in common with the first."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.amp.grad_scaler import GradScaler

from sleuth.live.snapshot import is_a
from sleuth.program import users_frame


@dataclass(frozen=True, slots=True)
class Census:
    """`models` are the outermost modules that hold any numbers; `variables` are leaves that no module holds."""

    models: list[nn.Module]
    optimizers: list[Any]
    scalers: list[Any]
    variables: dict[str, Tensor]


def take(frame: FrameType | None = None) -> Census:
    """`frame` is where to look for variables from, outwards."""
    modules: list[nn.Module] = []
    optimizers, scalers = [], []
    for thing in _in_order_of_making():
        if is_a(thing, nn.Module):
            modules.append(thing)
        elif is_a(thing, torch.optim.Optimizer):
            optimizers.append(thing)
        elif is_a(thing, GradScaler):
            scalers.append(thing)
    # One that was copied half-way or not initialised has no dictionaries yet.
    modules = [module for module in modules if "_modules" in module.__dict__ and "_parameters" in module.__dict__]
    inner = {id(child) for module in modules for child in module._modules.values() if child is not None}
    models = [module for module in modules if id(module) not in inner and _holds_numbers(module)]
    known = {id(parameter) for model in models for parameter in model.parameters()}
    optimizers = [optimizer for optimizer in optimizers if "param_groups" in optimizer.__dict__]
    return Census(models, optimizers, scalers, dict(_leaves(frame or sys._getframe(1), known)))


def _in_order_of_making() -> Iterator[Any]:
    """The collector keeps what it tracks in the order it was made, the oldest in its oldest generation."""
    for generation in (2, 1, 0):
        yield from gc.get_objects(generation=generation)


def _holds_numbers(module: nn.Module) -> bool:
    return next(module.parameters(), None) is not None or next(module.buffers(), None) is not None


def _leaves(frame: FrameType | None, known: set[int]) -> Iterator[tuple[str, Tensor]]:
    """Trained tensors in the user's variables: a loop that does without modules keeps its weights there."""
    frame = users_frame(frame)
    names: set[str] = set()
    while frame is not None:
        for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
            if not is_a(value, Tensor) or name in names or id(value) in known:
                continue
            if value.is_leaf and value.requires_grad:
                names.add(name)
                yield name, value
        frame = users_frame(frame.f_back)
