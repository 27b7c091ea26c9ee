"""Faults in attention, put into a port of real modules, are named; a faithful port is silent."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

HEADS, SIZE, LENGTH = 4, 32, 9
Attend = Callable[[Tensor, Tensor, Tensor], Tensor]
Split = Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]


def halves(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    q, k, v = x.chunk(3, -1)
    return q, k, v


def heads(x: Tensor) -> Tensor:
    return x.view(x.shape[0], x.shape[1], HEADS, -1).transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    return x.transpose(1, 2).reshape(x.shape[0], LENGTH, SIZE)


class Block(nn.Module):
    """The layers are always the same; what is done with them is given."""

    def __init__(
        self,
        attend: Attend,
        split: Split = halves,
        part: Callable[[Tensor], Tensor] = heads,
        join: Callable[[Tensor], Tensor] = joined,
    ) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(SIZE)
        self.qkv = nn.Linear(SIZE, 3 * SIZE)
        self.out = nn.Linear(SIZE, SIZE)
        self.attend, self.split, self.part, self.join = attend, split, part, join

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (self.part(one) for one in self.split(self.qkv(self.norm(x))))
        return x + self.out(self.join(self.attend(q, k, v)))


def fused(**options: object) -> Attend:
    return lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, **options)  # type: ignore[arg-type]


def composed(hide: Callable[[Tensor], Tensor] = lambda s: s, scale: float | None = None, axis: int = -1) -> Attend:
    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.mT
        if scale != 1.0:
            scores = scores / (math.sqrt(q.shape[-1]) if scale is None else scale)
        return hide(scores).softmax(axis) @ v

    return attend


def later(diagonal: int = 1) -> Tensor:
    return torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(diagonal)


def padding() -> Tensor:
    return (torch.arange(LENGTH)[None, None, None] < torch.tensor([9, 5, 7])[:, None, None, None]).expand(
        3, 1, 1, LENGTH
    )


def filled(value: float, diagonal: int = 1) -> Callable[[Tensor], Tensor]:
    return lambda scores: scores.masked_fill(later(diagonal), value)


def added(low: float, mask: Callable[[], Tensor] = later) -> Callable[[Tensor], Tensor]:
    return lambda scores: scores + torch.zeros(mask().shape).masked_fill(mask(), low)


def interleaved(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    b, t, _ = x.shape
    q, k, v = x.view(b, t, HEADS, 3, -1).permute(3, 0, 1, 2, 4).flatten(3)
    return q, k, v


def in_order(*order: int) -> Split:
    def split(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        parts = x.chunk(3, -1)
        return parts[order[0]], parts[order[1]], parts[order[2]]

    return split


def by_view(*order: int) -> Split:
    def split(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        whole = x.view(x.shape[0], x.shape[1], 3, SIZE).permute(2, 0, 1, 3)
        return whole[order[0]], whole[order[1]], whole[order[2]]

    return split


CASES = {
    "the causal mask is lost": (Block(fused(is_causal=True)), Block(fused()), "mask-differs", "no mask is applied"),
    "a causal mask too many": (Block(fused()), Block(fused(is_causal=True)), "mask-differs", "it is causal"),
    "the causal mask sees the next": (
        Block(fused(is_causal=True)),
        Block(fused(attn_mask=~later(2))),
        "mask-differs",
        "off by 1",
    ),
    "the padding is seen": (Block(fused(attn_mask=padding())), Block(fused()), "mask-differs", "no mask is applied"),
    "the padding mask is inverted": (
        Block(fused(attn_mask=padding())),
        Block(fused(attn_mask=~padding())),
        "mask-differs",
        "inverted",
    ),
    "of causal and padding only causal is left": (
        Block(fused(attn_mask=padding() & ~later())),
        Block(fused(is_causal=True)),
        "mask-differs",
        "only its causal part",
    ),
    "of causal and padding only padding is left": (
        Block(fused(attn_mask=padding() & ~later())),
        Block(fused(attn_mask=padding())),
        "mask-differs",
        "not causal",
    ),
    "the fill is positive": (
        Block(fused(is_causal=True)),
        Block(composed(filled(1e-9))),
        "mask-differs",
        "set to ",
    ),
    "a composed mask is lost": (
        Block(composed(filled(-math.inf))),
        Block(composed()),
        "mask-differs",
        "no mask is applied",
    ),
    "a composed mask is shifted": (
        Block(composed(filled(-1e9))),
        Block(composed(filled(-1e9, 2))),
        "mask-differs",
        "off by 1",
    ),
    "a composed mask hides the place itself": (
        Block(composed(filled(-1e9))),
        Block(composed(filled(-1e9, 0))),
        "mask-differs",
        "not see itself",
    ),
    "an added mask is lost": (Block(composed(added(-1e9))), Block(composed()), "mask-differs", "no mask is applied"),
    "an added mask is too weak": (Block(composed(added(-1e4))), Block(composed(added(-10.0))), "mask-differs", "-10"),
    "an added mask is inverted": (
        Block(composed(added(-1e9))),
        Block(composed(added(-1e9, lambda: ~later()))),
        "mask-differs",
        "inverted",
    ),
    "a chosen mask is inverted": (
        Block(composed(lambda s: torch.where(later(), -1e9, s))),
        Block(composed(lambda s: torch.where(~later(), -1e9, s))),
        "mask-differs",
        "inverted",
    ),
    "the scale is lost": (Block(fused()), Block(fused(scale=1.0)), "attention-scale-differs", "not scaled"),
    "the scale is of the model": (
        Block(fused()),
        Block(fused(scale=SIZE**-0.5)),
        "attention-scale-differs",
        "model's size",
    ),
    "the scale is applied twice": (
        Block(fused()),
        Block(fused(scale=HEADS / SIZE)),
        "attention-scale-differs",
        "once more",
    ),
    "a composed scale is lost": (
        Block(composed()),
        Block(composed(scale=1.0)),
        "attention-scale-differs",
        "not scaled",
    ),
    "a composed scale is of the model": (
        Block(composed()),
        Block(composed(scale=SIZE**0.5)),
        "attention-scale-differs",
        "model's size",
    ),
    "a composed scale too many": (
        Block(composed(scale=1.0)),
        Block(composed()),
        "attention-scale-differs",
        "once more",
    ),
    "the softmax is over queries": (
        Block(composed()),
        Block(composed(axis=-2)),
        "softmax-axis-differs",
        "over axis 2, not axis 3",
    ),
    "the softmax is over heads": (
        Block(composed()),
        Block(composed(axis=1)),
        "softmax-axis-differs",
        "over axis 1, not axis 3",
    ),
    "key before query": (
        Block(fused(is_causal=True)),
        Block(fused(is_causal=True), in_order(1, 0, 2)),
        "head-order-differs",
        "k, q, v",
    ),
    "value first": (Block(fused()), Block(fused(), in_order(1, 2, 0)), "head-order-differs", "order k, v, q"),
    "value first by view": (
        Block(fused(), by_view(0, 1, 2)),
        Block(fused(), by_view(2, 0, 1)),
        "head-order-differs",
        "order v, q, k",
    ),
    "q, k, v in each head": (
        Block(fused()),
        Block(fused(), interleaved),
        "head-order-differs",
        "4 heads of q, k, v each",
    ),
    "heads cut the other way": (
        Block(fused()),
        Block(fused(), part=lambda x: x.view(x.shape[0], x.shape[1], -1, HEADS).permute(0, 3, 1, 2)),
        "head-order-differs",
        "cut into 8 x 4",
    ),
    "heads joined the other way": (
        Block(fused()),
        Block(fused(), join=lambda x: x.permute(0, 2, 3, 1).reshape(x.shape[0], LENGTH, SIZE)),
        "head-order-differs",
        "joined as 8 x 4",
    ),
    "heads joined without moving them": (
        Block(fused()),
        Block(fused(), join=lambda x: x.reshape(x.shape[0], LENGTH, SIZE)),
        "operands-swapped",
        "not moved",
    ),
}


def batch() -> Tensor:
    return torch.randn(3, LENGTH, SIZE, generator=torch.Generator().manual_seed(1))


def same_weights(reference: nn.Module, port: nn.Module) -> None:
    generator = torch.Generator().manual_seed(2)
    for name, parameter in reference.named_parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * (0.3 if parameter.ndim > 1 else 0.1) + (
            "norm.weight" in name
        )
    port.load_state_dict(reference.state_dict())


@pytest.mark.parametrize("case", CASES)
def test_the_fault_is_named_and_nothing_else(case: str, told: Callable[..., list[tuple[str, str]]]) -> None:
    reference, port, diagnosis, words = CASES[case]
    same_weights(reference, port)
    found = told(reference, port, batch())
    assert {one for one, _ in found} == {diagnosis}, found
    assert words in found[0][1]


HEALTHY = [
    "the causal mask is lost",
    "of causal and padding only causal is left",
    "a composed mask is lost",
    "value first by view",
]


@pytest.mark.parametrize("case", HEALTHY)
def test_a_faithful_port_is_silent(case: str, told: Callable[..., list[tuple[str, str]]]) -> None:
    reference = CASES[case][0]
    same_weights(reference, reference)
    assert told(reference, reference, batch()) == []


def test_attention_written_out_is_the_same_as_fused(told: Callable[..., list[tuple[str, str]]]) -> None:
    reference, port = Block(fused(is_causal=True)), Block(composed(filled(-1e9)))
    same_weights(reference, port)
    assert told(reference, port, batch()) == []
