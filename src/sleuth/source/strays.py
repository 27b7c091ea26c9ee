"""Tensors made without a device: they lie on the CPU, wherever the network is."""

from __future__ import annotations

import re
from typing import Final

from sleuth.source.scopes import File
from sleuth.source.values import Value, itself

_MAKERS: Final = frozenset(
    f"torch.{name}"
    for name in (
        "zeros ones empty full rand randn randint randperm arange linspace eye tensor FloatTensor LongTensor".split()
    )
)
# Operations behind which a tensor lies where its operands lie.
_STAY: Final = frozenset(
    "view reshape flatten unsqueeze squeeze transpose permute expand index add sub mul div pow neg exp log sqrt "
    "sin float long half double contiguous clone triu cumsum softmax detach matmul compare".split()
)
_SIGNS_OF_A_GPU: Final = re.compile(
    r"\.cuda\(|\.to\(\s*(?:[\w.]*device|[\"']cuda)|torch\.device\(|device\s*=|LightningModule|Trainer\("
)
_DEFAULT_CHANGED: Final = re.compile(r"set_default_tensor_type|set_default_device|with torch\.device\(")
_DEEPEST: Final = 12


def maker(value: Value, depth: int = _DEEPEST) -> Value | None:
    """The call that made a tensor on the CPU, if nothing has moved it since; numbers alone are welcome everywhere."""
    value = itself(value)
    if value.op == "set_item":
        return maker(value.inputs[0], depth - 1) if depth else None
    if value.api in _MAKERS and value.kind == "tensor":
        if "device" in value.options or "**" in value.options or value.device is not None:
            return None
        return value if _has_axes(value) else None
    if value.op not in _STAY or depth == 0 or not value.inputs:
        return None
    found = None
    for one in value.inputs:
        if one.kind in ("tensor", "?", "array", "batch", "instance"):
            inner = maker(one, depth - 1)
            if inner is None and not _is_number(one):
                return None
            found = found or inner
    return found


def _has_axes(value: Value) -> bool:
    """A tensor of one number mixes with every device. Of torch.tensor(x) we know it only for a written-out list."""
    if value.api == "torch.tensor":
        return bool(value.shape)
    return value.shape != ()


def _is_number(value: Value) -> bool:
    return value.kind == "number" or value.shape == () or value.op.startswith(("size", "attr:shape", "len"))


def uses_a_gpu(file: File) -> bool:
    """Does the file speak of devices, and leave the default one alone?"""
    return bool(_SIGNS_OF_A_GPU.search(file.text)) and not _DEFAULT_CHANGED.search(file.text)
