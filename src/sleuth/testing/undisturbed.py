"""An oracle's experiments leave no trace: random generators are put back, and no watch hears them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Iterator[None]:
    import torch

    from sleuth.live.snapshot import RandomStates
    from sleuth.live.watch import set_aside

    before = RandomStates().take()
    try:
        with set_aside(), torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        before.restore()
