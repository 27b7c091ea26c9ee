"""`with sleuth.watch():` from code, as a decorator, and in a notebook."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import sleuth


def train(steps: int, at: int, model: nn.Module | None = None) -> nn.Module:
    torch.manual_seed(0)
    model = model or nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        out = model(torch.randn(8, 3))
        loss = (out**2).mean()
        if step >= at:
            loss = loss + torch.sqrt(out - 100).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def test_the_block_ends_at_the_verdict_and_the_report_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    reached = False
    with sleuth.watch() as watch:
        train(10, at=4)
        reached = True
    assert not reached
    assert [finding.diagnosis for finding in watch.findings] == ["sqrt-of-negative"]
    assert watch.findings[0].step == 4
    assert watch.report.exit == 1
    printed = capsys.readouterr().out
    assert "sqrt-of-negative" in printed
    assert "torch.sqrt(out - 100)" in printed


def test_a_healthy_block_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with sleuth.watch() as watch:
        train(10, at=99)
    assert watch.findings == []
    assert watch.steps == 10
    assert capsys.readouterr() == ("", "")


def test_keep_going_trains_on() -> None:
    with sleuth.watch(keep_going=True) as watch:
        model = train(10, at=4)
    assert watch.skipped >= 1
    assert all(torch.isfinite(parameter).all() for parameter in model.parameters())


def test_it_decorates_a_function() -> None:
    watch = sleuth.watch()

    @watch
    def job() -> None:
        train(10, at=2)

    job()
    assert watch.findings[0].step == 2


def test_what_was_built_before_the_block_is_watched_too() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with sleuth.watch() as watch:
        for step in range(6):
            loss = (model(torch.randn(8, 3)) ** 2).mean()
            if step == 3:
                loss = loss / 0
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    assert watch.findings[0].diagnosis == "division-by-zero"
    assert all(torch.isfinite(buffer.float()).all() for buffer in model.buffers())


def test_an_error_of_the_program_comes_through() -> None:
    with pytest.raises(ZeroDivisionError), sleuth.watch():
        raise ZeroDivisionError


def test_a_block_inside_a_block_does_nothing_of_its_own() -> None:
    with sleuth.watch() as outer, sleuth.watch() as inner:
        train(10, at=1)
    assert len(outer.findings) == 1
    assert inner.findings == []


def test_in_a_notebook_the_cells_line_is_named() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    cell = "\n".join(
        [
            "import torch, sleuth",
            "w = torch.nn.Parameter(torch.tensor([1.0]))",
            "optimizer = torch.optim.SGD([w], 0.1)",
            "with sleuth.watch() as watch:",
            "    for step in range(5):",
            "        loss = torch.log(w * 0).sum()",
            "        optimizer.zero_grad()",
            "        loss.backward()",
            "        optimizer.step()",
            "after = True",
        ]
    )
    shell.run_cell(cell).raise_error()
    finding = shell.user_ns["watch"].findings[0]
    assert shell.user_ns["after"]
    assert finding.place.line == 6
    assert finding.place.code == "torch.log(w * 0)"
