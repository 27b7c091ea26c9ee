"""The networks in PyTorch: small, of the kinds that are ported most. A line holds one operation, and so names it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY = 40
CLASSES = 7
HEADS = 4


class Residual(nn.Module):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.act1 = nn.ReLU()
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.short = nn.Conv2d(channels, out, 1, stride) if stride > 1 else None
        self.act2 = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        h = self.act1(self.bn1(self.conv1(x)))
        h = self.bn2(self.conv2(h))
        kept = x if self.short is None else self.short(x)
        h = h + kept
        return self.act2(h)  # type: ignore[no-any-return]


class Resnet(nn.Module):
    mean: Tensor
    std: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1))
        self.register_buffer("std", torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1))
        self.stem = nn.Conv2d(3, 12, 3, padding=1)
        self.bn = nn.BatchNorm2d(12)
        self.act = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.stages = nn.ModuleList([Residual(12, 12, 1), Residual(12, 16, 2), Residual(16, 16, 1)])
        self.average = nn.AvgPool2d(2)
        self.head = nn.Linear(16 * 4, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        h = image - self.mean
        h = h / self.std
        h = self.pool(self.act(self.bn(self.stem(h))))
        for stage in self.stages:
            h = stage(h)
        h = self.average(h)
        h = h.permute(0, 2, 3, 1).flatten(1)
        return self.head(h)  # type: ignore[no-any-return]


class BiLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, 16)
        self.lstm1 = nn.LSTM(16, 12, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm(24)
        self.lstm2 = nn.LSTM(24, 12, batch_first=True, bidirectional=True)
        self.head = nn.Linear(24, CLASSES)

    def forward(self, tokens: Tensor) -> Tensor:
        h = self.words(tokens)
        h, _ = self.lstm1(h)
        h = self.norm(h)
        h, _ = self.lstm2(h)
        h = h.mean(1)
        return self.head(h)  # type: ignore[no-any-return]


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, 16)
        self.gru1 = nn.GRU(16, 20, batch_first=True)
        self.gru2 = nn.GRU(20, 20, batch_first=True)
        self.hidden = nn.Linear(20, 20)
        self.act = nn.ELU()
        self.head = nn.Linear(20, CLASSES)

    def forward(self, tokens: Tensor) -> Tensor:
        h = self.words(tokens)
        h, _ = self.gru1(h)
        h, _ = self.gru2(h)
        h = h[:, -1]
        return self.head(self.act(self.hidden(h)))  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Four projections around a product; composed of its operations, or PyTorch's own."""

    mask: Tensor

    def __init__(self, width: int, causal: bool, composed: bool, longest: int = 32) -> None:
        super().__init__()
        self.q = nn.Linear(width, width)
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.out = nn.Linear(width, width)
        self.causal = causal
        self.composed = composed
        self.register_buffer("mask", torch.ones(longest, longest, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        q = self.q(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        k = self.k(memory).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        v = self.v(memory).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        if self.composed:
            k = k.transpose(2, 3)
            scores = q @ k
            scores = scores / math.sqrt(q.shape[-1])
            if self.causal:
                mask = self.mask[: scores.shape[2], : scores.shape[3]]
                scores = scores.masked_fill(mask, -1e9)
            weights = scores.softmax(-1)
            h = weights @ v
        else:
            h = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        h = h.transpose(1, 2)
        h = h.flatten(2)
        return self.out(h)  # type: ignore[no-any-return]


class Mlp(nn.Module):
    def __init__(self, width: int, act: nn.Module) -> None:
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.act = act
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.act(self.up(x)))  # type: ignore[no-any-return]


class Block(nn.Module):
    """Pre-norm: attention to itself, to a memory where there is one, and an MLP."""

    def __init__(self, width: int, act: nn.Module, causal: bool, composed: bool, crossed: bool = False) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(width)
        self.attention = Attention(width, causal, composed)
        self.ln2 = nn.LayerNorm(width) if crossed else None
        self.cross = Attention(width, False, composed) if crossed else None
        self.ln3 = nn.LayerNorm(width)
        self.mlp = Mlp(width, act)

    def forward(self, x: Tensor, memory: Tensor | None = None) -> Tensor:
        h = self.ln1(x)
        h = self.attention(h, h)
        x = x + h
        if self.cross is not None and self.ln2 is not None and memory is not None:
            h = self.cross(self.ln2(x), memory)
            x = x + h
        h = self.mlp(self.ln3(x))
        x = x + h
        return x


class Gpt(nn.Module):
    def __init__(self, composed: bool, layers: int = 3, width: int = 32, longest: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(longest, width)
        act = "tanh" if composed else "none"
        self.blocks = nn.ModuleList([Block(width, nn.GELU(act), True, composed) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens)
        place = self.places(torch.arange(tokens.shape[1], device=tokens.device))
        x = x + place
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # type: ignore[no-any-return]


class EncoderDecoder(nn.Module):
    def __init__(self, width: int = 32, longest: int = 16) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(longest, width)
        self.encoder = nn.ModuleList([Block(width, nn.SiLU(), False, True)])
        self.norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList([Block(width, nn.SiLU(), True, True, crossed=True) for _ in range(2)])
        self.last = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        x = self.words(source)
        place = self.places(torch.arange(source.shape[1], device=source.device))
        x = x + place
        for block in self.encoder:
            x = block(x)
        memory = self.norm(x)
        y = self.words(target)
        place = self.places(torch.arange(target.shape[1], device=target.device))
        y = y + place
        for block in self.decoder:
            y = block(y, memory)
        return self.head(self.last(y))  # type: ignore[no-any-return]


class VitBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm(width, eps=1e-6)
        self.attention = nn.MultiheadAttention(width, HEADS, batch_first=True)
        self.ln2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = Mlp(width, nn.GELU())

    def forward(self, x: Tensor) -> Tensor:
        h = self.ln1(x)
        h, _ = self.attention(h, h, h, need_weights=False)
        x = x + h
        h = self.mlp(self.ln2(x))
        x = x + h
        return x


class Vit(nn.Module):
    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.cls = nn.Parameter(torch.randn(1, 1, width) * 0.5)
        self.places = nn.Parameter(torch.randn(1, 17, width) * 0.2)
        self.blocks = nn.ModuleList([VitBlock(width) for _ in range(2)])
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.head = nn.Linear(width, CLASSES)

    def forward(self, image: Tensor) -> Tensor:
        h = self.patches(image)
        h = h.flatten(2).transpose(1, 2)
        h = torch.cat([self.cls.expand(h.shape[0], -1, -1), h], 1)
        h = h + self.places
        for block in self.blocks:
            h = block(h)
        h = self.norm(h)
        h = h[:, 0]
        return self.head(h)  # type: ignore[no-any-return]


class Convolved(nn.Module):
    def __init__(self, channels: int, out: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, out, 3, padding=1)
        self.bn = nn.BatchNorm2d(out)
        self.act = nn.LeakyReLU(0.1)

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.bn(self.conv(x)))  # type: ignore[no-any-return]


class Unet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down1 = Convolved(3, 8)
        self.pool1 = nn.MaxPool2d(2)
        self.down2 = Convolved(8, 12)
        self.pool2 = nn.AvgPool2d(3, 2, padding=1)
        self.middle = Convolved(12, 16)
        self.up2 = nn.ConvTranspose2d(16, 12, 2, 2)
        self.join2 = Convolved(24, 12)
        self.up1 = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
        self.join1 = Convolved(20, 8)
        self.head = nn.Conv2d(8, 2, 1)

    def forward(self, image: Tensor) -> Tensor:
        fine = self.down1(image)
        coarse = self.down2(self.pool1(fine))
        h = self.middle(self.pool2(coarse))
        h = self.up2(h)
        h = torch.cat([h, coarse], 1)
        h = self.join2(h)
        h = self.up1(h)
        h = torch.cat([h, fine], 1)
        h = self.join1(h)
        return self.head(h)  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Kind:
    """How to make one, and what its inputs are: (name, "image" or "tokens", shape behind the batch)."""

    make: Callable[[], nn.Module]
    inputs: tuple[tuple[str, str, tuple[int, ...]], ...]


_IMAGE = (("image", "image", (3, 16, 16)),)
_TOKENS = (("tokens", "tokens", (12,)),)
KINDS: dict[str, Kind] = {
    "resnet": Kind(Resnet, _IMAGE),
    "bilstm": Kind(BiLstm, _TOKENS),
    "gru": Kind(Gru, _TOKENS),
    "encoder-decoder": Kind(EncoderDecoder, (("source", "tokens", (9,)), ("target", "tokens", (12,)))),
    "gpt": Kind(lambda: Gpt(composed=True), _TOKENS),
    "gpt-sdpa": Kind(lambda: Gpt(composed=False), _TOKENS),
    "vit": Kind(Vit, _IMAGE),
    "unet": Kind(Unet, _IMAGE),
}


def batch(kind: str, rng: np.random.Generator, size: int = 3) -> tuple[NDArray[np.generic], ...]:
    """Inputs at random: images that are not centred, tokens of all kinds."""
    made: list[NDArray[np.generic]] = []
    for _, what, shape in KINDS[kind].inputs:
        if what == "tokens":
            made.append(rng.integers(0, VOCABULARY, (size, *shape)))
        else:
            made.append((0.4 + rng.standard_normal((size, *shape))).astype(np.float32))
    return tuple(made)


def fresh(kind: str, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return KINDS[kind].make().eval()


def trained(kind: str, seed: int, steps: int = 25) -> nn.Module:
    """A few steps of Adam on made-up labels: weights that have moved, running statistics of real activations."""
    torch.manual_seed(seed)
    model = KINDS[kind].make().train()
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(steps):
        inputs = [torch.from_numpy(array) for array in batch(kind, rng, 16)]
        answer = model(*inputs)
        optimiser.zero_grad()
        _loss(answer, inputs).backward()
        optimiser.step()
    return model.eval()


def is_identity(layer: nn.Module) -> bool:
    """A batch norm that was never trained only divides by the root of 1 + epsilon: without it is without epsilon."""
    if not isinstance(layer, nn.BatchNorm2d) or layer.running_mean is None or layer.running_var is None:
        return False
    return not layer.running_mean.any() and bool((layer.running_var == 1).all())


def _loss(answer: Tensor, inputs: list[Tensor]) -> Tensor:
    """Something of the inputs to be learnt: where they are large, or which tokens follow."""
    last = inputs[-1]
    if answer.ndim == 4:
        return functional.cross_entropy(answer, (last.mean(1) > 0.4).long())
    if answer.ndim == 3:
        return functional.cross_entropy(answer.transpose(1, 2), (last * 3 + 1) % VOCABULARY)
    return functional.cross_entropy(answer, (last.flatten(1).float().sum(1).abs() * 10).long() % CLASSES)
