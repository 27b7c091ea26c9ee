"""A module's copy for evaluation on the CPU, which shares nothing with the one that the user holds."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from sleuth.compare.side import CannotCompare


class Borrowed:
    """While it is entered, a module that could not be copied is in evaluation; afterwards it is as it was."""

    def __init__(self) -> None:
        self.model: nn.Module | None = None
        self._modes: list[tuple[nn.Module, bool]] = []
        self._buffers: list[tuple[Tensor, Tensor]] = []

    def __enter__(self) -> None:
        if self.model is not None:
            self._modes = [(module, module.training) for module in self.model.modules()]
            self._buffers = [(buffer, buffer.detach().clone()) for buffer in self.model.buffers()]
            self.model.eval()

    def __exit__(self, kind: object, error: object, where: object) -> None:
        for module, training in self._modes:
            module.training = training
        with torch.no_grad():
            for buffer, before in self._buffers:
                buffer.copy_(before)
        self._modes, self._buffers = [], []


def copied(model: nn.Module, title: str, borrowed: Borrowed) -> nn.Module:
    """In evaluation and on the CPU. What cannot be copied at all is borrowed for the length of each call."""
    if isinstance(model, nn.DataParallel | nn.parallel.DistributedDataParallel):
        model = model.module
    _refuse_what_has_no_weights(model, title)
    try:
        own = _deep_copy(model)
    except Exception:  # a __deepcopy__ of the user's own may raise anything
        if any(one.device.type != "cpu" for one in model.parameters()):
            raise CannotCompare(f"{title} is not on the CPU and cannot be copied there") from None
        borrowed.model = own = model
    else:
        own = _on_cpu(own, title).eval()
    if own is not model:
        _without_caches(own)
    return own


def _without_caches(model: nn.Module) -> None:
    """Hugging Face: what a decoder keeps for the next word is no answer. Inner models have their own config."""
    for module in model.modules():
        config: Any = getattr(module, "config", None)
        if getattr(config, "use_cache", False) is True:
            config.use_cache = False


def _deep_copy(model: nn.Module) -> nn.Module:
    try:
        return copy.deepcopy(model)
    except Exception:  # results of a computation kept as attributes, locks, open files
        return copy.deepcopy(model, _kept_apart(model))


def _kept_apart(model: nn.Module) -> dict[int, Any]:
    """What Python cannot copy among the modules' attributes: tensors by their numbers, all else shared."""
    memo: dict[int, Any] = {}
    for module in model.modules():
        for name, value in vars(module).items():
            if name in ("_parameters", "_buffers", "_modules"):
                continue
            try:
                copy.deepcopy(value)
            except Exception:
                memo[id(value)] = value.detach().clone() if isinstance(value, Tensor) else value
    return memo


def _on_cpu(model: nn.Module, title: str) -> nn.Module:
    tensors = [*model.parameters(), *model.buffers()]
    if any(one.device.type == "meta" for one in tensors):
        raise CannotCompare(f"{title} has no numbers in it: it was made on the meta device")
    return model.cpu() if any(one.device.type != "cpu" for one in tensors) else model


def _refuse_what_has_no_weights(model: nn.Module, title: str) -> None:
    lazy = [name for name, one in [*model.named_parameters(), *model.named_buffers()] if is_lazy(one)]
    if lazy:
        raise CannotCompare(f"{title} has layers that get their size from their first input ({lazy[0]}): run it once")
