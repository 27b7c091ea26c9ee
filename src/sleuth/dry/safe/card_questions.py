"""`nvidia-smi` as scripts ask it, answered for the pretended cards."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

_MEBIBYTE = 1 << 20
_NOT_AVAILABLE = "[N/A]"


def answer(command: Sequence[str]) -> str | None:
    """What `nvidia-smi --query-gpu=… --format=csv` prints; None for any other question."""
    torch: Any = sys.modules.get("torch")
    given = dict(word.partition("=")[::2] for word in command[1:])
    if not command or not command[0].endswith("nvidia-smi") or "--query-gpu" not in given or torch is None:
        return None
    if not torch.cuda.is_available():
        return None
    fields = given["--query-gpu"].split(",")
    layout = given.get("--format", "csv").split(",")
    cards = [_described(torch, number, "nounits" not in layout) for number in range(torch.cuda.device_count())]
    lines = [", ".join(card.get(field.strip(), _NOT_AVAILABLE) for field in fields) for card in cards]
    return "\n".join(([] if "noheader" in layout else [", ".join(fields)]) + lines) + "\n"


def _described(torch: Any, number: int, units: bool) -> dict[str, str]:
    """An idle card."""
    properties = torch.cuda.get_device_properties(number)
    total = properties.total_memory // _MEBIBYTE
    memory, share = (" MiB", " %") if units else ("", "")
    return {
        "index": str(number),
        "name": properties.name,
        "gpu_name": properties.name,
        "count": str(torch.cuda.device_count()),
        "memory.total": f"{total}{memory}",
        "memory.used": f"0{memory}",
        "memory.free": f"{total}{memory}",
        "utilization.gpu": f"0{share}",
        "utilization.memory": f"0{share}",
        "temperature.gpu": "40",
    }
