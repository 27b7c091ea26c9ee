"""The cheap question asked at every step: are the loss and the gradients finite?"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sleuth.frameworks import torch_private
from sleuth.live.numbers import is_finite
from sleuth.live.ranks.shards import local_all

_norms: Callable[..., Sequence[Tensor]] = torch_private.get("torch._foreach_norm")
_copy_all = torch_private.get("torch._foreach_copy_")

_HALF = {torch.float16, torch.bfloat16}
_FEW = 24


def parameters_of(optimizer: Any) -> list[Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def gradients_of(parameters: Iterable[Tensor]) -> list[Tensor]:
    return local_all([gradient for p in parameters if (gradient := p.grad) is not None])


def norms(gradients: list[Tensor]) -> Sequence[Tensor]:
    """One number a gradient, from one fused call; gradients of several devices or layouts one by one."""
    try:
        return _norms(gradients, 2, dtype=torch.float32 if gradients[0].dtype in _HALF else None)
    except (RuntimeError, NotImplementedError):
        home = gradients[0].device
        each = [torch.linalg.vector_norm(_dense(g).float()) for g in gradients if g.device.type != "meta"]
        return [norm.to(home) for norm in each]


def _dense(gradient: Tensor) -> Tensor:
    return gradient._values() if gradient.layout == torch.sparse_coo else gradient


def bad_parameters(parameters: Iterable[Tensor]) -> list[Tensor]:
    """The parameters whose gradient really holds NaN or Inf: a norm may also overflow by itself."""
    return [p for p in parameters if p.grad is not None and not is_finite(p.grad)]


def total_norm(gradients: list[Tensor]) -> float:
    """The norm of all gradients together; not finite where any of them is not (or where the norm itself overflows)."""
    return norm_of(norms(gradients)) if gradients else 0.0


def norm_of(each: Sequence[Tensor]) -> float:
    """All the norms as one."""
    if len(each) <= _FEW and not each[0].is_cuda:
        # For a small model the calls cost more than the numbers.
        return math.sqrt(sum(norm.item() ** 2 for norm in each))
    return float(torch.stack(list(each)).norm())


@dataclass(frozen=True, slots=True)
class Reading:
    """What a late sentinel learnt of a step."""

    step: int
    gradient_norm: float
    loss: float


class LateSentinel:
    """For accelerators: the norm stays on the device, is copied to pinned memory without waiting, and is read when the
    next step is due. A copy of the weights from before the update is kept on the device, so that a step found bad can
    still be undone and replayed."""

    def __init__(self, may_copy: bool = True) -> None:
        self._waiting: deque[tuple[int, Tensor, Any]] = deque()
        self._weights: list[Tensor] = []
        self._copies: list[Tensor] = []
        self._may_copy = may_copy

    def send(self, step: int, parameters: list[Tensor], gradients: list[Tensor], loss: Tensor | None) -> None:
        """Start the measurement of this step, before the optimiser runs."""
        total = torch.stack(list(norms(gradients))).norm()
        row = torch.stack([total, total.new_zeros(()) if loss is None else loss.reshape(()).to(total)])
        on_host, arrived = _copied_without_waiting(row)
        self._waiting.append((step, on_host, arrived))
        self._keep_weights(parameters)

    def read(self) -> Reading | None:
        """The measurement sent a step ago. Waits only for an accelerator that is more than a whole step behind."""
        if not self._waiting:
            return None
        step, on_host, arrived = self._waiting.popleft()
        if arrived is not None:
            arrived.synchronize()
        norm, loss = on_host.tolist()
        return Reading(step, norm, loss)

    def undo(self) -> bool:
        """Put the weights back to what they were before the last update; False where there was no room to keep them."""
        if not self._copies:
            return False
        with torch.no_grad():
            _copy_all(self._weights, self._copies)
        return True

    def _keep_weights(self, parameters: list[Tensor]) -> None:
        if not self._may_copy:
            return
        with torch.no_grad():
            if len(self._weights) != len(parameters):
                if not _room_for(parameters):
                    self._may_copy = False
                    return
                self._weights = parameters
                self._copies = [parameter.detach().clone() for parameter in parameters]
            else:
                _copy_all(self._copies, [parameter.detach() for parameter in parameters])


def _copied_without_waiting(value: Tensor) -> tuple[Tensor, Any]:
    if value.device.type != "cuda":
        return value.detach().to("cpu", copy=True), None
    host = torch.empty(value.shape, dtype=value.dtype, pin_memory=True)
    host.copy_(value.detach(), non_blocking=True)
    arrived = torch.cuda.Event()
    arrived.record()
    return host, arrived


def _room_for(parameters: list[Tensor]) -> bool:
    """A copy of the weights must not be what fills the card: take at most a quarter of what is free."""
    if not parameters or parameters[0].device.type != "cuda":
        return True
    free, _ = torch.cuda.mem_get_info(parameters[0].device)
    return sum(p.numel() * p.element_size() for p in parameters) < free / 4


def scalar(tensor: Any) -> float | None:
    """The value of a scalar loss, None for anything else. Non-scalars may hold a deliberate infinity."""
    if not isinstance(tensor, Tensor) or tensor.numel() != 1 or tensor.is_meta:
        return None
    value = tensor.item()
    return value if isinstance(value, float) else None


def is_bad(value: float | None) -> bool:
    return value is not None and not math.isfinite(value)
