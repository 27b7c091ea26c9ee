"""bfloat16 where the processor announces AMX, whether or not it then traps: in a process without the tests' setting."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from sleuth.compare import trapping_amx

COMPARISON = """
import torch
from sleuth.testing import assert_same_model
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
assert_same_model(model, variant="bf16", inputs=(torch.randn(64, 64),))
"""


def test_a_comparison_in_bfloat16_does_not_end_the_process() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "ONEDNN_MAX_CPU_ISA"}
    done = subprocess.run(
        [sys.executable, "-c", COMPARISON], env=environment, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("there", [True, False])
def test_onednn_is_left_out_only_where_amx_traps_and_comes_back(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trapping_amx, "traps", lambda: there)
    before = torch._C._get_mkldnn_enabled()
    with trapping_amx.spared():
        assert torch._C._get_mkldnn_enabled() is (before and not there)
    assert torch._C._get_mkldnn_enabled() is before
