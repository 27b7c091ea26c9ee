"""Makes the CPU hold what a card would hold, where its kernels keep far more, or far less, for the backward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional
from torch.optim import optimizer

from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    _attention(stage)
    _dropout(stage)
    _groups(stage)
    if stage.scenario.numbers == "fake":
        _optimisers(stage)


def _attention(stage: Stage) -> None:
    """With dropout the CPU writes the whole matrix of attention down; a card never does."""
    plain = functional.scaled_dot_product_attention

    def attention(
        query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, *args: Any, **kwargs: Any
    ) -> Any:
        if dropout_p and _on_card(stage, query):
            dropout_p = 0.0
        return plain(query, key, value, attn_mask, dropout_p, *args, **kwargs)

    stage.patches.set(functional, "scaled_dot_product_attention", attention)


def _dropout(stage: Stage) -> None:
    """A card keeps one byte an element of what it dropped; the CPU a whole number, unless asked for the same kernel."""
    plain = torch_private.get("torch._VF.dropout")

    def dropout(tensor: Any, p: float, train: bool) -> Any:
        if train and 0 < p < 1 and _on_card(stage, tensor):
            return torch.native_dropout(tensor, p, train)[0]
        return plain(tensor, p, train)

    if plain is not None:
        stage.patches.set(torch._VF, "dropout", dropout)


def _optimisers(stage: Stage) -> None:
    """On a card an optimiser handles all parameters at once, which takes room; it must do so with fake ones too."""
    known = torch_private.get("torch.optim.optimizer._foreach_supported_types")
    fake = torch_private.get("torch._subclasses.fake_tensor.FakeTensor")
    stage.patches.set(optimizer, "_foreach_supported_types", [*known, fake])


def _groups(stage: Stage) -> None:
    """All at once means all of one card; to torch's C++ all cards are the CPU."""
    plain = torch_private.get("torch._C._group_tensors_by_device_and_dtype")

    def grouped(lists: Any, with_indices: bool = False) -> dict[tuple[Any, Any], Any]:
        found: dict[tuple[Any, Any], Any] = {}
        for (_, dtype), (members, indices) in plain(lists, with_indices).items():
            for place, first in enumerate(members[0]):
                own, numbers = found.setdefault((first.device, dtype), ([[] for _ in members], []))
                for part, whole in zip(own, members, strict=True):
                    part += whole[place : place + 1]
                numbers += indices[place : place + 1]
        return found

    if plain is not None:
        stage.patches.set(torch._C, "_group_tensors_by_device_and_dtype", grouped)


def _on_card(stage: Stage, tensor: Any) -> bool:
    return bool(stage.now_on != "cpu" or tensor.device.type != "cpu")
