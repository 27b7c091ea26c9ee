"""The sentinel for accelerators reads a step late. There is none here, so the late reading is forced on the CPU."""

from __future__ import annotations

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from sleuth.findings import Finding
from sleuth.frameworks.after_import import AfterImport
from sleuth.live.nonfinite import NonFinite
from sleuth.live.stop import Stop
from sleuth.live.taps import Taps


def train(model: nn.Module, bad: int) -> None:
    torch.manual_seed(0)
    inputs = torch.randn(64, 3)
    inputs[bad] = 0.0
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for (x,) in DataLoader(TensorDataset(inputs), batch_size=8):
        loss = torch.sqrt((model(x) * x).pow(2).sum(1) * 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def watched(bad: int) -> tuple[list[Finding], nn.Module, list[Exception]]:
    found: list[Finding] = []
    errors: list[Exception] = []

    def deliver(finding: Finding) -> bool:
        found.append(finding)
        raise Stop

    model = nn.Linear(3, 3)
    story = NonFinite(deliver, errors.append, lambda *row: None, keep_going=False, prompt=False)
    taps = Taps(story)
    taps.install(AfterImport())
    try:
        train(model, bad)
    except Stop:
        pass
    finally:
        taps.remove()
        story.switch_off()
    return found, model, errors


def test_a_step_found_bad_a_step_later_is_undone_and_replayed() -> None:
    found, model, errors = watched(bad=27)
    assert errors == []
    assert [finding.diagnosis for finding in found] == ["sqrt-gradient-at-zero"]
    assert found[0].step == 3
    assert found[0].place is not None
    assert found[0].place.code == "torch.sqrt((model(x) * x).pow(2).sum(1) * 2)"
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


def test_a_healthy_run_is_silent_when_read_late() -> None:
    torch.manual_seed(1)
    found, _, errors = watched(bad=slice(0, 0))  # type: ignore[arg-type]
    assert errors == []
    assert found == []
