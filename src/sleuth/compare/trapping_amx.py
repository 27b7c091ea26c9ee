"""A processor that announces AMX and traps on it, as some virtual machines do: bfloat16 would end the process there."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch

_SECONDS = 20


@contextmanager
def spared() -> Iterator[None]:
    """Without oneDNN, which would use it, where it traps."""
    if not traps():
        yield
        return
    before, *_ = torch.backends.mkldnn.set_flags(_enabled=False, _fp32_precision=None)
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(_enabled=before, _fp32_precision=None)


@cache
def traps() -> bool:
    """Found out by a child that may die of it."""
    if not _announced():
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there are threads: the child needs none of them
        child = os.fork()
    if not child:
        signal.alarm(_SECONDS)
        torch.set_num_threads(1)
        square = torch.ones(64, 64, dtype=torch.bfloat16)
        torch.mm(square, square)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGILL


def _announced() -> bool:
    try:
        return " amx_" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
