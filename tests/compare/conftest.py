"""What a comparison of two modules tells, in the shortest form."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.comparison import Comparison, compare_on
from sleuth.compare.sides.torch_ import TorchSide

Told = list[tuple[str, str]]


def compared(reference: nn.Module, port: nn.Module, *inputs: Tensor) -> Comparison:
    return compare_on(TorchSide(reference), TorchSide(port), tuple(one.numpy() for one in inputs))


@pytest.fixture
def told() -> Callable[..., Told]:
    """The causes that are named, each with what is said; an unexplained parting is ("", node)."""

    def tell(reference: nn.Module, port: nn.Module, *inputs: Tensor) -> Told:
        found = compared(reference, port, *inputs).troubles
        return [
            (one.explanation.diagnosis, one.explanation.proposal.says) if one.explanation else ("", one.parting.node)
            for one in found
        ]

    return tell


@pytest.fixture
def seeded() -> Callable[[Callable[[], nn.Module]], nn.Module]:
    """A module made with the same random weights each time, in evaluation mode, the generator left as it was."""

    def make(build: Callable[[], nn.Module]) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return build().eval()

    return make
