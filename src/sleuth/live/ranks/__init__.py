"""Several processes that train one model (torch.distributed): what they decide together, and how their stories are one.

`team` agrees on what to do about a bad number, `drift` compares weights and batches, `muster` and `children` see to it
that every rank is watched and writes into the same folder, `merge` makes one report of what they wrote."""

from __future__ import annotations

import os
import sys
from typing import Any


def distributed() -> Any:
    """torch.distributed where the program has brought up several processes with it, else None. Never imports it."""
    module = sys.modules.get("torch.distributed")
    if module is None or not module.is_available() or not module.is_initialized() or module.get_world_size() < 2:
        return None
    return module


def rank() -> int:
    """Which of the ranks this process is; 0 where it is the only one."""
    module = distributed()
    if module is not None:
        return int(module.get_rank())
    return _number("RANK", 0)


def world() -> int:
    """How many ranks there are."""
    module = distributed()
    return int(module.get_world_size()) if module is not None else max(1, _number("WORLD_SIZE", 1))


def _number(name: str, otherwise: int) -> int:
    told = os.environ.get(name, "")
    return int(told) if told.isdigit() else otherwise
