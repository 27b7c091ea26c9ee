"""`torch.cuda.memory_*`: what the rehearsal has counted on each card so far."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# The allocator takes memory from the card in pieces of this size.
_PIECE = 2 << 20


class _Card:
    """What one card holds, and the most it held since it was last asked to forget."""

    def __init__(self, stage: Stage, label: str) -> None:
        self.stage = stage
        self.label = label
        self.before = 0

    @property
    def held(self) -> int:
        memory = self._memory()
        return 0 if memory is None else int(memory.held)

    @property
    def peak(self) -> int:
        memory = self._memory()
        # A peak from before a reset does not count any more; a higher one since then does.
        known = 0 if memory is None else int(memory.peak)
        return known if known > self.before else self.held

    def forget_peak(self) -> None:
        memory = self._memory()
        self.before = 0 if memory is None else int(memory.peak)

    def _memory(self) -> Any:
        for watcher in self.stage.watchers:
            meter = getattr(watcher, "meter", None)
            if meter is not None:
                return meter.ledger.memories.get(self.label)
        return None


def install(stage: Stage) -> None:
    cards: dict[str, _Card] = {}
    total = stage.scenario.card_bytes

    def card(device: Any = None) -> _Card:
        label = stage.devices.label("cuda" if device is None else device)
        return cards.setdefault(label, _Card(stage, label))

    def statistics(device: Any = None) -> OrderedDict[str, int]:
        one = card(device)
        told: OrderedDict[str, int] = OrderedDict()
        for name, now, peak in (
            ("allocated_bytes", one.held, one.peak),
            ("reserved_bytes", _reserved(one.held), _reserved(one.peak)),
            ("active_bytes", one.held, one.peak),
        ):
            for pool in ("all", "large_pool", "small_pool"):
                told[f"{name}.{pool}.current"] = now if pool != "small_pool" else 0
                told[f"{name}.{pool}.peak"] = peak if pool != "small_pool" else 0
                told[f"{name}.{pool}.allocated"] = peak if pool != "small_pool" else 0
                told[f"{name}.{pool}.freed"] = peak - now if pool != "small_pool" else 0
        told["num_ooms"] = told["num_alloc_retries"] = 0
        return told

    def summary(device: Any = None, abbreviated: bool = False) -> str:
        one = card(device)
        return (
            f"|  PyTorch CUDA memory summary, device ID {one.label.partition(':')[2]}  |\n"
            f"| Allocated memory      | {one.held} B | peak {one.peak} B |\n"
            f"| GPU reserved memory   | {_reserved(one.held)} B | peak {_reserved(one.peak)} B |"
        )

    answers: dict[str, Any] = {
        "memory_allocated": lambda device=None: card(device).held,
        "max_memory_allocated": lambda device=None: card(device).peak,
        "memory_reserved": lambda device=None: _reserved(card(device).held),
        "max_memory_reserved": lambda device=None: _reserved(card(device).peak),
        "memory_cached": lambda device=None: _reserved(card(device).held),
        "max_memory_cached": lambda device=None: _reserved(card(device).peak),
        "device_memory_used": lambda device=None: _reserved(card(device).held),
        "mem_get_info": lambda device=None: (max(0, total - _reserved(card(device).held)), total),
        "memory_stats": statistics,
        "memory_stats_as_nested_dict": lambda device=None: {},
        "memory_summary": summary,
        "memory_snapshot": lambda *args, **kwargs: [],
        "memory_usage": lambda device=None: 0,
        "list_gpu_processes": lambda device=None: "no processes are running",
        "get_allocator_backend": lambda: "native",
        "get_per_process_memory_fraction": lambda device=None: 1.0,
        "host_memory_stats": lambda: OrderedDict(),
    }
    for name in ("reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached"):
        answers[name] = lambda device=None: card(device).forget_peak()
    for name in (
        "empty_cache",
        "ipc_collect",
        "reset_accumulated_memory_stats",
        "set_per_process_memory_fraction",
        "caching_allocator_enable",
        "reset_peak_host_memory_stats",
        "reset_accumulated_host_memory_stats",
        "_record_memory_history",
        "_dump_snapshot",
        "_set_allocator_settings",
    ):
        answers[name] = lambda *args, **kwargs: None
    for owner in (torch.cuda, torch.cuda.memory, getattr(torch, "accelerator", None)):
        for name, answer in answers.items():
            if hasattr(owner, name):
                stage.patches.set(owner, name, answer)
    if hasattr(getattr(torch, "accelerator", None), "get_memory_info"):
        stage.patches.set(torch.accelerator, "get_memory_info", answers["mem_get_info"])


def _reserved(size: int) -> int:
    return -(-size // _PIECE) * _PIECE
