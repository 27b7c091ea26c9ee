"""Faults in inputs, precision, dropout and the order of operands are named; a faithful port is silent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

Told = Callable[..., list[tuple[str, str]]]
Change = Callable[[Tensor], Tensor]
Layer = Callable[[nn.Linear, Tensor], Tensor]


def same(x: Tensor) -> Tensor:
    return x


def plain(layer: nn.Linear, x: Tensor) -> Tensor:
    found: Tensor = layer(x)
    return found


def added(x: Tensor, y: Tensor) -> Tensor:
    return x + y


class Text(nn.Module):
    """Tokens, an embedding, two linear layers with something in between, and a pooled answer."""

    def __init__(
        self,
        tokens: Change = same,
        first: Layer = plain,
        middle: Change = same,
        meet: Callable[[Tensor, Tensor], Tensor] = added,
        pooled: Change = lambda x: x[:, 0],
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)
        self.head = nn.LazyLinear(4)
        self.tokens, self.way, self.middle, self.meet, self.pooled = tokens, first, middle, meet, pooled

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(self.tokens(ids))
        y = self.middle(self.way(self.first, x))
        z = self.meet(y, torch.tanh(self.second(x)))
        found: Tensor = self.head(self.pooled(z))
        return found


def in_format(dtype: torch.dtype) -> Layer:
    return lambda layer, x: functional.linear(x.to(dtype), layer.weight.to(dtype), layer.bias.to(dtype)).float()


def weights_in(dtype: torch.dtype) -> Layer:
    return lambda layer, x: functional.linear(x, layer.weight.to(dtype).float(), layer.bias.to(dtype).float())


def weights_in_bytes(layer: nn.Linear, x: Tensor) -> Tensor:
    scale = layer.weight.abs().amax(1, keepdim=True) / 127
    return functional.linear(x, (layer.weight / scale).round() * scale, layer.bias)


def in_bytes(scale: float) -> Change:
    return lambda x: (x / scale).round().clamp(-128, 127) * scale


def dropped(rate: float) -> Change:
    def change(x: Tensor) -> Tensor:
        kept = torch.from_numpy(np.random.default_rng(0).random(x.shape) >= rate)
        return x * kept / (1 - rate)

    return change


def channels_dropped(x: Tensor) -> Tensor:
    kept = torch.from_numpy(np.random.default_rng(0).random((*x.shape[:2], 1)) >= 0.3)
    return x * kept / 0.7


CASES = {
    "tokens from one": (Text(), Text(tokens=lambda ids: ids + 1), "input-scaling-differs", "1 higher"),
    "tokens from the end": (Text(), Text(tokens=lambda ids: ids.flip(1)), "input-scaling-differs", "from the end"),
    "tokens shifted": (
        Text(),
        Text(tokens=lambda ids: torch.cat([torch.zeros_like(ids[:, :1]), ids[:, :-1]], 1)),
        "input-scaling-differs",
        "shifted to the right",
    ),
    "a layer in float16": (Text(), Text(first=in_format(torch.float16)), "precision-lowered", "float16"),
    "a layer in bfloat16": (Text(), Text(first=in_format(torch.bfloat16)), "precision-lowered", "bfloat16"),
    "weights stored in float16": (
        Text(),
        Text(first=weights_in(torch.float16)),
        "precision-lowered",
        "weights are rounded to float16",
    ),
    "weights stored in bytes": (Text(), Text(first=weights_in_bytes), "precision-lowered", "one scale a channel"),
    "a value kept in float16": (
        Text(),
        Text(middle=lambda x: x.half().float()),
        "precision-lowered",
        "kept in float16",
    ),
    "a value kept in bytes": (Text(), Text(middle=in_bytes(0.15)), "precision-lowered", "steps of 0.15"),
    "a range too narrow": (
        Text(),
        Text(middle=in_bytes(0.02)),
        "quantisation-range-clipped",
        "cut off below -2.56 and above 2.54",
    ),
    "clipped": (
        Text(),
        Text(middle=lambda x: x.clamp(-1.7, 2.3)),
        "quantisation-range-clipped",
        "below -1.7 and above 2.3",
    ),
    "dropout": (Text(), Text(middle=dropped(0.2)), "dropout-active", "multiplied by 1.25"),
    "dropout of channels": (Text(), Text(middle=channels_dropped), "dropout-active", "whole channels"),
    "minus the other way": (Text(meet=torch.sub), Text(meet=lambda x, y: y - x), "operands-swapped", "exchanged"),
    "divided the other way": (Text(meet=torch.div), Text(meet=lambda x, y: y / x), "operands-swapped", "exchanged"),
    "product for sum": (Text(), Text(meet=torch.mul), "operands-swapped", "computes mul"),
    "no residual": (Text(), Text(meet=lambda x, y: x), "operands-swapped", "left out"),
    "joined the other way": (
        Text(meet=lambda x, y: torch.cat([x, y], -1)),
        Text(meet=lambda x, y: torch.cat([y, x], -1)),
        "operands-swapped",
        "order 2, 1",
    ),
    "the last token": (Text(), Text(pooled=lambda x: x[:, -1]), "operands-swapped", "place 6 of 7"),
    "one place later": (
        Text(pooled=lambda x: x[:, 1:4].mean(1)),
        Text(pooled=lambda x: x[:, 2:5].mean(1)),
        "operands-swapped",
        "begins at 2, not at 1",
    ),
    "sums along the other axis": (
        Text(middle=lambda x: x.cumsum(1)),
        Text(middle=lambda x: x.cumsum(2)),
        "softmax-axis-differs",
        "over axis 2, not axis 1",
    ),
}


def same_weights(reference: nn.Module, port: nn.Module) -> None:
    for module in (reference, port):
        module(batch())
    generator = torch.Generator().manual_seed(2)
    for parameter in reference.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.5
    port.load_state_dict(reference.state_dict())


def batch() -> Tensor:
    return torch.randint(1, 29, (8, 7), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("case", CASES)
def test_the_fault_is_named_and_nothing_else(case: str, told: Told) -> None:
    reference, port, diagnosis, words = CASES[case]
    same_weights(reference, port)
    found = told(reference, port, batch())
    assert [one for one, _ in found] == [diagnosis], found
    assert words in found[0][1]


@pytest.mark.parametrize("case", ["tokens from one", "joined the other way", "sums along the other axis"])
def test_a_faithful_port_is_silent(case: str, told: Told) -> None:
    reference = CASES[case][0]
    same_weights(reference, reference)
    assert told(reference, reference, batch()) == []
