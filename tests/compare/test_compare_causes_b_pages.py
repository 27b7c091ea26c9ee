"""The pages of these causes show code that really gives other numbers, and code that does not."""

from __future__ import annotations

import re
import types

import pytest
import torch

from sleuth import handbook
from sleuth.compare.causes import all_causes

NAMES = [
    "softmax-axis-differs",
    "mask-differs",
    "attention-scale-differs",
    "head-order-differs",
    "gate-order-differs",
    "reset-after-differs",
    "recurrent-activation-differs",
    "flatten-order-differs",
    "resize-corners-differ",
    "pooling-edges-differ",
    "channels-reversed",
    "input-scaling-differs",
    "precision-lowered",
    "quantisation-range-clipped",
    "dropout-active",
    "operands-swapped",
]
BLOCK = re.compile(r"^```python (before|after)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", NAMES)
def test_the_code_before_gives_other_numbers_and_the_code_after_the_same(name: str) -> None:
    results = {}
    for label, code in BLOCK.findall(handbook.page(name).text):
        module = types.ModuleType(label)
        with torch.random.fork_rng(devices=[]):
            exec(compile(code, f"{name} [{label}]", "exec"), module.__dict__)
        results[label] = module.__dict__["result"]
    assert results == {"before": False, "after": True}


@pytest.mark.parametrize("name", NAMES)
def test_a_page_belongs_to_a_cause(name: str) -> None:
    assert name in all_causes()
