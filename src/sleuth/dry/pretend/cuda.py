"""`torch.cuda`, `torch.accelerator` and `torch.backends` as they are on a machine with the pretended cards."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.pretend import (
    compiled,
    cuda_kernels,
    cuda_limits,
    cuda_memory,
    cuda_parallel,
    cuda_random,
    cuda_streams,
    cuda_types,
)
from sleuth.dry.scenario import GIBIBYTE

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

CUDA_VERSION = "12.8"
CUDNN_VERSION = 91002
NCCL_VERSION = (2, 27, 5)
# A card that has about as much memory as the scenario says: its size in GiB, name, capability and multiprocessors.
_CARDS = (
    (8, "NVIDIA GeForce RTX 3070", (8, 6), 46),
    (12, "NVIDIA GeForce RTX 3060", (8, 6), 28),
    (16, "NVIDIA RTX A4000", (8, 6), 48),
    (24, "NVIDIA GeForce RTX 4090", (8, 9), 128),
    (48, "NVIDIA RTX A6000", (8, 6), 84),
    (80, "NVIDIA A100-SXM4-80GB", (8, 0), 108),
    (180, "NVIDIA B200", (10, 0), 148),
)


@dataclass(frozen=True, slots=True)
class Properties:
    """What `get_device_properties` tells of a card."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    uuid: str = "00000000-0000-0000-0000-000000000000"
    warp_size: int = 32
    max_threads_per_multi_processor: int = 1536
    regs_per_multiprocessor: int = 65536
    shared_memory_per_block: int = 49152
    shared_memory_per_block_optin: int = 101376
    shared_memory_per_multiprocessor: int = 102400
    L2_cache_size: int = 40 << 20
    is_integrated: bool = False
    is_multi_gpu_board: bool = False


def install(stage: Stage) -> None:
    compiled.install(stage)
    cuda_limits.install(stage)
    if stage.devices.kind != "cuda":
        return
    _devices(stage)
    _backends(stage)
    _accelerator(stage)
    for part in (cuda_memory, cuda_streams, cuda_random, cuda_types, cuda_parallel, cuda_kernels):
        part.install(stage)


def properties(stage: Stage) -> Properties:
    """The card whose memory comes nearest from above to what the scenario says."""
    size = stage.scenario.card_bytes / GIBIBYTE
    _, name, (major, minor), processors = next((card for card in _CARDS if card[0] >= size - 0.5), _CARDS[-1])
    return Properties(name, major, minor, stage.scenario.card_bytes, processors)


def _devices(stage: Stage) -> None:
    cuda, devices = torch.cuda, stage.devices

    def index_of(device: Any = None) -> int:
        if device is None:
            return devices.current
        return int(devices.label(device).partition(":")[2] or 0)

    def set_device(device: Any) -> None:
        if isinstance(device, int) and device < 0:
            return
        devices.current = index_of(device)

    def exchange(device: int) -> int:
        if device < 0:
            return -1
        before, devices.current = devices.current, index_of(device)
        return before

    def get_device_properties(device: Any = None) -> Properties:
        index_of(device)
        return properties(stage)

    def get_device_capability(device: Any = None) -> tuple[int, int]:
        about = get_device_properties(device)
        return about.major, about.minor

    before = os.environ.get("CUDA_VISIBLE_DEVICES")

    def count() -> int:
        """How many there are, none once the program has hidden them from itself."""
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        return 0 if visible in ("", "-1") and visible != before else devices.count

    about = properties(stage)
    _set_all(
        stage,
        cuda,
        is_available=lambda: count() > 0,
        _is_compiled=lambda: True,
        device_count=count,
        current_device=lambda: devices.current,
        set_device=set_device,
        _exchange_device=exchange,
        _maybe_exchange_device=exchange,
        get_device_properties=get_device_properties,
        get_device_name=lambda device=None: get_device_properties(device).name,
        get_device_capability=get_device_capability,
        init=_nothing,
        _lazy_init=_nothing,
        _lazy_call=_nothing,
        is_initialized=lambda: True,
        _is_in_bad_fork=lambda: False,
        is_bf16_supported=lambda including_emulation=True: True,
        is_tf32_supported=lambda: True,
        get_arch_list=lambda: [f"sm_{about.major}{about.minor}"],
        get_gencode_flags=lambda: f"-gencode compute=compute_{about.major}{about.minor}",
        can_device_access_peer=lambda device, peer_device: index_of(device) != index_of(peer_device),
        get_sync_debug_mode=lambda: 0,
        set_sync_debug_mode=_nothing,
        utilization=lambda device=None: 0,
        temperature=lambda device=None: 40,
        power_draw=lambda device=None: 60_000,
        clock_rate=lambda device=None: 1500,
        has_half=True,
        has_magma=True,
    )
    stage.patches.set(torch.version, "cuda", torch.version.cuda or CUDA_VERSION)
    stage.patches.set(torch._C, "_cuda_getDeviceCount", lambda: devices.count)
    stage.patches.set(torch._C, "_cuda_getDevice", lambda: devices.current)
    _nvtx(stage)
    _nccl(stage)


def _nvtx(stage: Stage) -> None:
    @contextlib.contextmanager
    def named_range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
        yield

    _set_all(
        stage,
        torch.cuda.nvtx,
        range_push=lambda msg: 0,
        range_pop=lambda: 0,
        range_start=lambda msg: 0,
        range_end=_nothing,
        mark=_nothing,
        range=named_range,
    )


def _nccl(stage: Stage) -> None:
    _set_all(stage, torch.cuda.nccl, version=lambda: NCCL_VERSION, is_available=lambda tensors: True)


def _backends(stage: Stage) -> None:
    cuda, cudnn = torch.backends.cuda, torch.backends.cudnn
    _set_all(stage, cuda, is_built=lambda: True, is_flash_attention_available=lambda: True)
    _set_all(
        stage,
        cudnn,
        version=lambda: CUDNN_VERSION,
        is_available=lambda: True,
        is_acceptable=lambda tensor: bool(cudnn.enabled and tensor.is_cuda),
    )
    # A build that has cuDNN would lay an RNN's weights out with it, and to C++ they are the CPU's.
    _set_all(stage, torch, _use_cudnn_rnn_flatten_weight=lambda: False)


def _accelerator(stage: Stage) -> None:
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    cuda = torch.cuda
    chosen = torch.device("cuda")
    _set_all(
        stage,
        accelerator,
        is_available=lambda: True,
        device_count=lambda: stage.devices.count,
        current_accelerator=lambda check_available=False: chosen,
        current_device_index=lambda: stage.devices.current,
        current_device_idx=lambda: stage.devices.current,
        set_device_index=lambda device: cuda.set_device(device),
        set_device_idx=lambda device: cuda.set_device(device),
        current_stream=lambda device=None: cuda.current_stream(device),
        set_stream=lambda stream: cuda.set_stream(stream),
        synchronize=lambda device=None: cuda.synchronize(device),
        device_index=cuda.device,
    )
    stage.patches.set(torch._C, "_get_accelerator", lambda check=None: chosen)
    stage.patches.set(torch._C, "_accelerator_getAccelerator", lambda: chosen)
    stage.patches.set(torch._C, "_accelerator_getDeviceIndex", lambda: stage.devices.current)


def _set_all(stage: Stage, owner: Any, **values: Any) -> None:
    for name, value in values.items():
        if hasattr(owner, name):
            stage.patches.set(owner, name, value)


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None
