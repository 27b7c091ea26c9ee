"""`torch.mps` and `torch.backends.mps` as they are on a Mac."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

NO_FLOAT64 = (
    "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64. "
    "Please use float32 instead."
)


def install(stage: Stage) -> None:
    if stage.devices.kind != "mps":
        return
    total = stage.scenario.card_bytes
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_allocated_memory": lambda: 0,
        "driver_allocated_memory": lambda: 0,
        "recommended_max_memory": lambda: total,
        "get_rng_state": lambda device="mps": torch.get_rng_state(),
    }
    for name in (
        "synchronize",
        "empty_cache",
        "manual_seed",
        "seed",
        "set_rng_state",
        "set_per_process_memory_fraction",
    ):
        answers[name] = _nothing
    for name, answer in answers.items():
        if hasattr(torch.mps, name):
            stage.patches.set(torch.mps, name, answer)
    backend = torch.backends.mps
    for name in ("is_available", "is_built", "is_macos13_or_newer", "is_macos_or_newer"):
        if hasattr(backend, name):
            stage.patches.set(backend, name, lambda *args: True)
    _accelerator(stage)


def _accelerator(stage: Stage) -> None:
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    chosen = torch.device("mps")
    for name, answer in {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_accelerator": lambda check_available=False: chosen,
        "current_device_index": lambda: 0,
        "synchronize": _nothing,
    }.items():
        stage.patches.set(accelerator, name, answer)
    stage.patches.set(torch._C, "_get_accelerator", lambda check=None: chosen)
    stage.patches.set(torch._C, "_accelerator_getAccelerator", lambda: chosen)


def refuse_float64(value: Any) -> None:
    """Raises as a Mac's GPU does for a tensor or type of double precision."""
    if value is torch.float64 or (isinstance(value, torch.Tensor) and value.dtype == torch.float64):
        raise TypeError(NO_FLOAT64)


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None
