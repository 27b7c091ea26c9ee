"""A change of the source is told only after the failing step was repeated with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.live.conftest import Ran

from sleuth import editing
from sleuth.findings import Edit

RunScript = Callable[..., Ran]

IN_A_FUNCTION = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss_of(p, y):
        return -(y * torch.log(p) + (1 - y) * torch.log(1 - p)).mean()

    x = torch.randn(32, 4)
    y = (x[:, 0] > 0).float()
    x[20] *= 1e4
    seen = open("seen.txt", "w")
    for features, labels in DataLoader(TensorDataset(x, y), batch_size=8):
        probabilities = torch.sigmoid(model(features)).squeeze(1)
        loss = loss_of(probabilities, labels)
        print("loss", loss.item())
        print("loss", loss.item(), file=seen, flush=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
TWO_AT_ONCE = """
    import torch

    torch.manual_seed(0)
    w = torch.nn.Parameter(torch.rand(4))
    optimizer = torch.optim.SGD([w], lr=0.1)
    for step in range(5):
        x = torch.rand(8, 4)
        if step == 2:
            x[0] = 0
        h = (x * w).sum(1)
        with torch.autocast("cpu", enabled=False):
            norm = torch.where(h > 0, 1.0 / torch.sqrt(h), 0.0)
        loss = norm.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
TOO_SMALL_A_CLAMP = """
    import torch

    w = torch.nn.Parameter(torch.ones(4))
    optimizer = torch.optim.SGD([w], lr=1e-12)

    def angle(cosine):
        return torch.acos(cosine)

    for step in range(3):
        loss = angle((w * (1.0 if step else 0.5)).bfloat16()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


def mended(script: Path, ran: Ran) -> str:
    """The program with the one fix made that is said to be verified."""
    verified = [fix for fix in ran.only["fixes"] if fix["verified"]]
    assert len(verified) == 1, ran.only["fixes"]
    text = editing.apply(script.read_text(), [Edit(**edit) for edit in verified[0]["edits"]])
    assert text is not None
    return text


def test_a_verified_change_mends_the_program_and_its_trial_leaves_no_trace(
    run_script: RunScript, tmp_path: Path
) -> None:
    ran = run_script(IN_A_FUNCTION)
    assert ran.only["diagnosis"] == "log-of-zero"
    text = mended(tmp_path / "train.py", ran)
    assert ".clamp(min=1e-08)" in text
    # The step itself and its replay under the trace; the trial prints and writes nowhere.
    assert ran.stdout.count("loss") == 4
    assert (tmp_path / "seen.txt").read_text().count("loss") == 4
    assert run_script(text).findings == []


def test_where_two_operations_of_one_statement_fail_both_are_mended_or_none(
    run_script: RunScript, tmp_path: Path
) -> None:
    ran = run_script(TWO_AT_ONCE)
    text = mended(tmp_path / "train.py", ran)
    assert "torch.sqrt(h + " in text
    assert run_script(text).findings == []


def test_a_change_that_does_not_help_is_not_told_as_a_fix(run_script: RunScript) -> None:
    ran = run_script(TOO_SMALL_A_CLAMP)
    assert ran.only["diagnosis"] == "arc-gradient-at-edge"
    assert not any("clamp strictly" in fix["title"] or fix["verified"] for fix in ran.only["fixes"])
    assert "clamp strictly inside the range" in ran.evidence("tried in vain")


@pytest.mark.parametrize("option", [("--experiments", "0")])
def test_nothing_is_tried_where_no_time_is_given_for_it(
    script: Callable[..., Path], sleuth_run: RunScript, option: tuple[str, str]
) -> None:
    script(TWO_AT_ONCE)
    ran = sleuth_run(*option, "train.py")
    assert ran.only["fixes"]
    assert not any(fix["verified"] or fix["edits"] for fix in ran.only["fixes"])
