"""Saved, loaded, copied and shared, a hollow tensor stays hollow: its memory is neither read nor written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.fake import hollow
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Unseen = torch_private.get("torch._C.DisableTorchFunction")


def made_again(
    shape: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype, requires_grad: bool, is_parameter: bool
) -> torch.Tensor:
    """A hollow tensor as it was saved."""
    tensor = hollow.make(shape, stride, dtype)
    if is_parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad) if requires_grad else tensor


def install(stage: Stage) -> None:
    _install_reduce(stage, torch.Tensor)
    _install_reduce(stage, torch.nn.Parameter)
    _install_storages(stage)
    torch.serialization.add_safe_globals([made_again])


def _install_reduce(stage: Stage, kind: type[torch.Tensor]) -> None:
    plain: Any = kind.__reduce_ex__

    def reduce_ex(self: torch.Tensor, proto: Any) -> Any:
        with _Unseen():
            if not hollow.is_hollow(self):
                return plain(self, proto)
            is_parameter = isinstance(self, torch.nn.Parameter)
            plain_grad = self.requires_grad and self.is_leaf
            return made_again, (tuple(self.shape), tuple(self.stride()), self.dtype, plain_grad, is_parameter)

    stage.patches.set(kind, "__reduce_ex__", reduce_ex)


def _install_storages(stage: Stage) -> None:
    storage_type: Any = torch.UntypedStorage
    plain_clone: Any = storage_type.clone
    plain_share: Any = storage_type.share_memory_

    def clone(self: torch.UntypedStorage) -> torch.UntypedStorage:
        return hollow.storage_like(self) if hollow.is_hollow_storage(self) else plain_clone(self)

    def deepcopy(self: torch.UntypedStorage, memo: dict[Any, Any]) -> Any:
        known = memo.setdefault("torch", {})
        if self._cdata not in known:
            known[self._cdata] = self.clone()
        return known[self._cdata]

    def share_memory(self: torch.UntypedStorage, *args: Any, **kwargs: Any) -> Any:
        return self if hollow.is_hollow_storage(self) else plain_share(self, *args, **kwargs)

    stage.patches.set(storage_type, "clone", clone)
    stage.patches.set(storage_type, "__deepcopy__", deepcopy)
    stage.patches.set(storage_type, "share_memory_", share_memory)
