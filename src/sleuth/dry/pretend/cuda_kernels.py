"""Ways to choose among a card's kernels, and kernels the CPU has no like of: its own do the work."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch.autograd import profiler
from torch.nn.modules import batchnorm

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    _attention(stage)
    _profiling(stage)
    stage.patches.set(batchnorm, "sync_batch_norm", type("SyncBatchNorm", (), {"apply": staticmethod(_synchronised)}))


def _attention(stage: Stage) -> None:
    """Any choice will do."""
    import torch.nn.attention as attention

    chosen = {"flash_sdp": True, "mem_efficient_sdp": True, "math_sdp": True, "cudnn_sdp": True}
    backend = torch.backends.cuda
    for name in chosen:

        def enable(enabled: bool, _name: str = name) -> None:
            chosen[_name] = enabled

        def enabled(_name: str = name) -> bool:
            return chosen[_name]

        stage.patches.set(backend, f"enable_{name}", enable)
        stage.patches.set(backend, f"{name}_enabled", enabled)
    stage.patches.set(backend, "sdp_kernel", _as_it_is)
    stage.patches.set(attention, "sdpa_kernel", _as_it_is)


@contextlib.contextmanager
def _as_it_is(*args: Any, **kwargs: Any) -> Iterator[None]:
    yield


def _profiling(stage: Stage) -> None:
    """What is profiled is what happens here, on the CPU."""
    plain = profiler.profile.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs.pop("use_cuda", None)
        plain(self, *args, **{**kwargs, "use_device": None})

    stage.patches.set(profiler.profile, "__init__", init)
    for name in ("start", "stop"):
        stage.patches.set(torch.cuda.profiler, name, lambda: None)
    stage.patches.set(torch.cuda.profiler, "profile", _as_it_is)
    done = SimpleNamespace(
        cudaProfilerStart=lambda: 0, cudaProfilerStop=lambda: 0, cudaMemGetInfo=torch.cuda.mem_get_info
    )
    stage.patches.set(torch.cuda, "cudart", lambda: done)


def _synchronised(
    given: Any, weight: Any, bias: Any, mean: Any, variance: Any, epsilon: float, momentum: float, *group: Any
) -> Any:
    """Synchronised batch norm among processes that have the same batch."""
    return F.batch_norm(given, mean, variance, weight, bias, True, momentum, epsilon)
