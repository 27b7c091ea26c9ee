"""A small project with a bug in it, and the findings an engine would make of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report

TRAIN = """\
import torch

from model import Net

net = Net()


def step(x, y):
    probs = net(x)
    p = probs[torch.arange(len(y)), y]
    loss = -torch.log(p).mean()
    loss.backward()
    return loss
"""
MODEL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(self.head(x), dim=1)
"""


class Make(Protocol):
    def __call__(self, diagnosis: str = ..., **changes: Any) -> Finding: ...


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.fixture
def make() -> Make:
    """A finding with as little in it as there can be."""

    def make(diagnosis: str = "log-of-zero", **changes: Any) -> Finding:
        least: dict[str, Any] = {
            "title": "log of a value that reached 0",
            "certainty": "certain",
            "severity": "error",
            "kind": "training-anomaly",
            "root_cause": "invalid-range",
            "stage": "model-training",
            "effect": "nan",
        }
        return Finding(diagnosis, **(least | changes))

    return make


@pytest.fixture
def log_of_zero(make: Make) -> Finding:
    log = Place("train.py", 11, 13, 11, "torch.log(p)")
    return make(
        place=log,
        step=412,
        evidence=(Evidence("input minimum", 0.0), Evidence("exact zeros", 3), Evidence("shape", (1024, 10))),
        chain=(
            Link("softmax gave 3 exact zeros", Place("model.py", 6, 16, 6, "torch.softmax(self.head(x), dim=1)")),
            Link("its log is -inf, and so is the loss", log),
        ),
        fixes=(
            Fix("keep the probability away from 0", (Edit("train.py", 11, 23, 11, 24, "p.clamp_min(1e-8)"),), True),
            Fix("give the logits to F.cross_entropy"),
        ),
    )


@pytest.fixture
def small_batch(make: Make) -> Finding:
    return make(
        "small-batch",
        title="each batch holds one sample",
        certainty="hint",
        severity="note",
        place=Place("train.py", 9),
        evidence=(Evidence("batch size", 1),),
    )


@pytest.fixture
def report(log_of_zero: Finding, small_batch: Finding) -> Report:
    return Report("run", "train.py", (small_batch, log_of_zero))
