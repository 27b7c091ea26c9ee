"""Models and batches that the oracles are tried on, and a look at whether they leave them as they were."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor, nn

BATCH = 8


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.classify = nn.Linear(8 * 4 * 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        features = torch.relu(self.norm(self.conv(x)))
        return self.classify(nn.functional.max_pool2d(features, 2).flatten(1))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classify = nn.Linear(16, 3)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.classify(self.encoder(self.embed(tokens)).mean(1))


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 16, batch_first=True)
        self.classify = nn.Linear(16, 3)

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.lstm(x)
        return self.classify(states[:, -1])


def inputs_for(kind: type) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    if kind is Transformer:
        return torch.randint(1, 12, (BATCH, 5), generator=generator)
    shape = {Mlp: (BATCH, 6), Cnn: (BATCH, 1, 8, 8), Lstm: (BATCH, 7, 4)}[kind]
    return torch.randn(shape, generator=generator)


LABELS = torch.tensor([0, 1, 2, 0, 1, 2, 0, 1])
HEALTHY = [Mlp, Cnn, Transformer, Lstm]


@pytest.fixture(params=HEALTHY, ids=lambda kind: kind.__name__.lower())
def healthy(request: pytest.FixtureRequest) -> tuple[nn.Module, Tensor, Tensor]:
    """A healthy model with inputs and labels."""
    torch.manual_seed(0)
    return request.param(), inputs_for(request.param), LABELS


@pytest.fixture
def failure() -> Callable[..., str]:
    """The message of an oracle that does not hold."""

    def told(oracle: Callable[..., None], *args: Any, **kwargs: Any) -> str:
        with pytest.raises(AssertionError) as caught:
            oracle(*args, **kwargs)
        return str(caught.value)

    return told


@pytest.fixture
def line_of() -> Callable[[str], str]:
    """A pattern for `test_finite.py:31`: any line of the test's file that is marked `# here`."""

    def find(path: str) -> str:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
        numbers = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith("# here")]
        return rf"{re.escape(Path(path).name)}:(?:{'|'.join(map(str, numbers))})\b"

    return find


def _snapshot(model: nn.Module) -> dict[str, Any]:
    state = {f"state {name}": value.clone() for name, value in model.state_dict().items()}
    state |= {f"gradient {name}": p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    state |= {f"training {name}": module.training for name, module in model.named_modules()}
    state |= {f"frozen {name}": p.requires_grad for name, p in model.named_parameters()}
    state["hooks"] = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())
    return state


@pytest.fixture
def untouched() -> Iterator[Callable[[nn.Module], None]]:
    """Say which model to look at; at the end it, its gradients and flags and all generators must be as they were."""
    looked_at: list[tuple[nn.Module, dict[str, Any]]] = []
    torch_state, python_state, numpy_state = torch.get_rng_state(), random.getstate(), repr(numpy.random.get_state())
    flags = torch.is_grad_enabled(), torch.backends.mha.get_fastpath_enabled()

    def look_at(model: nn.Module) -> None:
        nonlocal torch_state, python_state, numpy_state
        looked_at.append((model, _snapshot(model)))
        torch_state, python_state = torch.get_rng_state(), random.getstate()
        numpy_state = repr(numpy.random.get_state())

    yield look_at
    assert torch.equal(torch.get_rng_state(), torch_state)
    assert random.getstate() == python_state
    assert repr(numpy.random.get_state()) == numpy_state
    assert (torch.is_grad_enabled(), torch.backends.mha.get_fastpath_enabled()) == flags
    for model, before in looked_at:
        after = _snapshot(model)
        assert after.keys() == before.keys()
        for name, value in before.items():
            same = torch.equal(value, after[name]) if isinstance(value, Tensor) else value == after[name]
            assert same, name
