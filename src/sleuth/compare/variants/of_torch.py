"""The PyTorch module behind a side, and the side that one of its variants is."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from sleuth.compare.reference import as_array, as_tensor
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Array, Batch, Captured
from sleuth.compare.variants.graph_values import captured

T = TypeVar("T")


def module_of(side: Side, name: str) -> nn.Module:
    """A copy of it that may be changed."""
    if not isinstance(side, TorchSide) or isinstance(side.model, torch.jit.ScriptModule):
        raise CannotCompare(f"{side.title} is no PyTorch module: its {name} variant cannot be made")
    with quietly():
        return or_one_line(f"{side.title} cannot be copied", lambda: copy.deepcopy(side.model))


def or_one_line(what: str, make: Callable[[], T]) -> T:
    """What PyTorch raises here is the user's answer: its first line, and what was being done."""
    try:
        return make()
    except CannotCompare:
        raise
    except Exception as problem:
        lines = [line for line in str(problem).splitlines() if line.strip()]
        raise CannotCompare(f"{what}: {lines[0].strip() if lines else type(problem).__name__}") from None


class VariantSide(TorchSide):
    """A module made from another side's, called as that one is; a failure to run it is one line."""

    def __init__(self, side: Side, name: str, model: nn.Module) -> None:
        assert isinstance(side, TorchSide)
        self.__dict__.update(side.__dict__)
        self.origin = side
        self.model = model
        self.title = f"{side.title} as {name}"
        self._references = {}

    def _cast(self, tensor: Tensor) -> Tensor:
        return self.origin._cast(tensor)

    def surroundings(self) -> AbstractContextManager[Any]:
        """What it is run under."""
        return nullcontext()

    def call(self, batch: Batch) -> list[Tensor]:
        with self.surroundings():
            return super().call(batch)

    def run(self, batch: Batch) -> list[Array]:
        return or_one_line(f"{self.title} cannot be run", lambda: [as_array(one) for one in self.call(batch)])

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        outputs = self.run(batch)
        graph = self.reference(batch)
        tensors = [self._cast(as_tensor(array)) for array in batch]
        with self.surroundings():
            return or_one_line(
                f"{self.title} cannot be run step by step", lambda: captured(graph, tensors, outputs, wanted)
            )

    @property
    def size(self) -> int | None:
        """Of its weights, in the type that they are kept in."""
        tensors = [one for one in self.model.state_dict().values() if isinstance(one, Tensor)]
        return sum(one.numel() * one.element_size() for one in tensors) or None
