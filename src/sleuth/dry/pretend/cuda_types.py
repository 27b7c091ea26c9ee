"""The old way to make tensors on a card: `torch.cuda.FloatTensor(2, 3)`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

DTYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "LongTensor": torch.int64,
    "IntTensor": torch.int32,
    "ShortTensor": torch.int16,
    "CharTensor": torch.int8,
    "ByteTensor": torch.uint8,
    "BoolTensor": torch.bool,
}


class _TensorType(type):
    """Calling one makes a tensor; a tensor is an instance by where it is and what it holds."""

    dtype: torch.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not isinstance(args[0], int | torch.Size):
            data = args[0]
            if isinstance(data, torch.Tensor):
                return data.to("cuda", cls.dtype)
            return torch.tensor(data, dtype=cls.dtype, device="cuda")
        return torch.empty(*args, dtype=cls.dtype, device="cuda")

    def __instancecheck__(cls, one: Any) -> bool:
        return isinstance(one, torch.Tensor) and one.is_cuda and one.dtype == cls.dtype


def install(stage: Stage) -> None:
    for name, dtype in DTYPES.items():
        made = _TensorType(name, (), {"dtype": dtype, "is_cuda": True, "__module__": "torch.cuda"})
        stage.patches.set(torch.cuda, name, made)
    plain = torch.set_default_tensor_type

    def set_default_tensor_type(kind: Any) -> None:
        name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
        if ".cuda." not in name:
            plain(kind)
            return
        torch.set_default_dtype(DTYPES[name.rpartition(".")[2]])
        torch.set_default_device("cuda")
        stage.patches.later(lambda: torch.set_default_device(None))

    stage.patches.set(torch, "set_default_tensor_type", set_default_tensor_type)
