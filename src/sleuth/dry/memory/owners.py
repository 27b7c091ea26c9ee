"""Whose a storage is: a parameter's, a gradient's, or an optimiser's."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from sleuth.dry.memory.ledger import GRADIENTS, OPTIMISER, WEIGHTS, Ledger


class Owners:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._parameters: dict[int, weakref.ref[torch.Tensor]] = {}
        # The most numbers there were at a time, in all parameters and in those that are trained.
        self.count = 0
        self.trainable = 0

    def module(self, module: Any) -> bool:
        """All parameters and buffers of a module, which may have moved since they were last looked at. Any new ones?"""
        before = len(self._parameters)
        for part in module.modules():
            for parameter in part._parameters.values():
                self._parameter(parameter)
            for buffer in part._buffers.values():
                self._is(buffer, WEIGHTS)
        return len(self._parameters) > before

    def parameters_of(self, optimizer: Any) -> bool:
        """All that an optimiser trains. Any new ones?"""
        before = len(self._parameters)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                self._parameter(parameter)
        return len(self._parameters) > before

    def state_of(self, optimizer: Any) -> None:
        for state in optimizer.state.values():
            for value in state.values() if isinstance(state, dict) else ():
                for one in value if isinstance(value, list | tuple) else (value,):
                    self._is(one, OPTIMISER)

    def gradients(self) -> None:
        for reference in list(self._parameters.values()):
            parameter = reference()
            if parameter is not None:
                self._is(parameter.grad, GRADIENTS)

    def take_stock(self) -> None:
        """Count the numbers in all parameters there are."""
        living = [parameter for reference in list(self._parameters.values()) if (parameter := reference()) is not None]
        self.count = max(self.count, sum(p.numel() for p in living))
        self.trainable = max(self.trainable, sum(p.numel() for p in living if p.requires_grad))

    def _parameter(self, parameter: Any) -> None:
        if parameter is None or is_lazy(parameter):
            return
        self._is(parameter, WEIGHTS)
        if id(parameter) not in self._parameters:
            forget = partial(self._parameters.pop, id(parameter))
            self._parameters[id(parameter)] = weakref.ref(parameter, lambda _: forget(None))

    def _is(self, tensor: Any, kind: str) -> None:
        if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
            return
        try:
            block = self._ledger.block(tensor.untyped_storage())
        except NotImplementedError:  # a tensor inside vmap or grad is a wrapper around another
            return
        if block is not None:
            self._ledger.becomes(block, kind)
