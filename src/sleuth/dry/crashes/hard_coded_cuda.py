"""The program asks for a card on a machine that has none."""

from __future__ import annotations

import linecache
import re

from sleuth.dry.corners import as_hint
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _scene
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

_WORDS = re.compile(
    r"Torch not compiled with CUDA enabled|No CUDA GPUs are available|Found no NVIDIA driver|"
    r"not linked with support for (?:cuda|mps) devices|Cannot access accelerator device when none is available|"
    r"PyTorch is not linked with support"
)


# `--device cuda`, `--device=cuda:0`, `trainer.accelerator=gpu`, `--use-cuda`, `--gpus 1`.
_ASKED = re.compile(r"(?<![a-z])(?:cuda|gpus?)(?![a-z])", re.IGNORECASE)
# The program lets whoever starts it choose.
_OPTION = re.compile(r"""["']--?(?:\w+[-_])?(?:device|cuda|gpus?|accelerator)["']""")


def is_about_a_missing_card(words: str) -> bool:
    return bool(_WORDS.search(words))


def explain(crash: Crash) -> Finding | None:
    if not is_about_a_missing_card(crash.message):
        return None
    fix = Fix('device = "cuda" if torch.cuda.is_available() else "cpu", and .to(device) everywhere')
    finding = told("hard-coded-cuda", crash, fixes=[fix])
    return as_hint(finding) if _was_asked_for(crash) else finding


def _was_asked_for(crash: Crash) -> bool:
    """Is the card what the user chose, or let the program choose, rather than what its author wrote down for good?"""
    scenario = crash.stage.scenario
    if any(_ASKED.search(argument) for argument in scenario.arguments):
        return True
    code = crash.place.code if crash.place is not None else None
    if code is None or _ASKED.search(code):
        return False
    # A device that comes in a variable. On a machine that nobody said the program is meant for, that is no fault yet.
    return scenario.corner == "no_gpu" or bool(_OPTION.search("".join(linecache.getlines(_main_file(crash)))))


def _main_file(crash: Crash) -> str:
    """The file of the program's outermost frame, where its options are."""
    spots = _scene.users_spots(crash)
    return spots[0].code.co_filename if spots else ""
