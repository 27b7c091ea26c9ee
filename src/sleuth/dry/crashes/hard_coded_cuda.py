"""The program asks for a card on a machine that has none."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(
    r"Torch not compiled with CUDA enabled|No CUDA GPUs are available|Found no NVIDIA driver|"
    r"not linked with support for (?:cuda|mps) devices|Cannot access accelerator device when none is available|"
    r"PyTorch is not linked with support"
)


def explain(crash: Crash) -> Finding | None:
    if not _WORDS.search(crash.message):
        return None
    fix = Fix('device = "cuda" if torch.cuda.is_available() else "cpu", and .to(device) everywhere')
    return told("hard-coded-cuda", crash, fixes=[fix])
