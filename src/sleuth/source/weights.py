"""Which values are modules of torch, and which of them hold weights that can be trained."""

from __future__ import annotations

from typing import Final

from sleuth.source.operations import OF_LAYER, WITH_WEIGHTS
from sleuth.source.scopes import ClassInfo
from sleuth.source.values import Value

TORCH_BASES: Final = ("torch.nn.Module", "lightning.LightningModule", "torch.nn.Sequential", "torch.nn.ModuleList")
_CONTAINERS: Final = ("torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict")
_OTHERS_WITH_WEIGHTS: Final = frozenset(
    "torch.nn.MultiheadAttention torch.nn.Transformer torch.nn.TransformerEncoder torch.nn.TransformerEncoderLayer "
    "torch.nn.TransformerDecoder torch.nn.TransformerDecoderLayer torch.nn.Bilinear torch.nn.PReLU".split()
)
# Networks nest; this deep we look for weights.
_DEEPEST: Final = 4


def is_torch_module(value: Value) -> bool:
    """Surely a torch.nn.Module?"""
    if value.kind == "module":
        return value.api.startswith(("torch.nn.", "torchvision.models."))
    return value.kind == "instance" and is_torch_class(value.info)


def is_torch_class(info: object) -> bool:
    return isinstance(info, ClassInfo) and info.derives_from(*TORCH_BASES)


def holds_weights(value: Value, depth: int = _DEEPEST) -> bool:
    """Does a torch module surely hold trainable weights?"""
    if value.op == "phi":
        return bool(value.inputs) and all(holds_weights(one, depth - 1) for one in value.inputs) if depth else False
    if value.kind == "module":
        if value.api in _CONTAINERS:
            return depth > 0 and any(holds_weights(part, depth - 1) for part in value.parts or ())
        return is_torch_module(value) and (
            OF_LAYER.get(value.api) in WITH_WEIGHTS
            or value.api in _OTHERS_WITH_WEIGHTS
            or "BatchNorm" in value.api
            or value.api.startswith("torchvision.models.")
        )
    if value.kind != "instance" or depth == 0 or not is_torch_class(value.info):
        return False
    return any(is_parameter(one) or holds_weights(one, depth - 1) for one in value.attrs.values())


def is_parameter(value: Value) -> bool:
    return value.op == "api:torch.nn.Parameter"


def submodules(owner: Value) -> dict[str, Value]:
    """The torch modules an object has as attributes."""
    return {name: one for name, one in owner.attrs.items() if is_torch_module(one)}
