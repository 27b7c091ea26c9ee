"""A fix that is told has been tried where it can be: verified if it mends the program, gone if it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from rehearsing import rehearsed

from sleuth.dry.crashes import _edits, _making, linear_size_mismatch
from sleuth.dry.crashes._misfit import misfit
from sleuth.dry.crashes._told import told
from sleuth.findings import Fix

MODEL = """
import torch
from torch import nn
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear({width}, 3))
labels = torch.{labels}
nn.functional.cross_entropy(model(torch.randn(8, 20)), labels).backward()
"""
WELL = "randint(0, 3, (8,))"


def fixes(folder: Path, width: int = 128, labels: str = WELL) -> list[tuple[str, bool]]:
    (finding,) = rehearsed(folder, MODEL.format(width=width, labels=labels)).report.findings
    assert finding.diagnosis == "linear-size-mismatch"
    return [(fix.title, fix.verified) for fix in finding.fixes]


def test_a_fix_that_brings_the_program_to_its_end_is_verified(tmp_path: Path) -> None:
    assert fixes(tmp_path) == [("Linear(in_features 128 → 64)", True)]


def test_one_after_which_another_crash_waits_is_not(tmp_path: Path) -> None:
    assert fixes(tmp_path, labels="full((8,), 7)") == [("Linear(in_features 128 → 64)", False)]


def test_the_file_stays_as_it_is(tmp_path: Path) -> None:
    fixes(tmp_path)
    assert "nn.Linear(128, 3)" in (tmp_path / "train.py").read_text()


def test_a_fix_in_a_module_of_the_program_is_tried_there(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "from torch import nn\nmodel = nn.Sequential(nn.Linear(20, 64), nn.Linear(8, 3))\n"
    )
    done = rehearsed(tmp_path, "import torch\nfrom net import model\nmodel(torch.randn(2, 20)).sum().backward()\n")
    assert [fix.verified for fix in done.report.findings[0].fixes] == [True]


def test_what_does_not_mend_it_is_not_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def useless(crash: object) -> object:
        found = misfit(crash)  # type: ignore[arg-type]
        assert found is not None
        assert found.made is not None
        assert found.made.call is not None
        number = _making.argument(found.made.call, 0, "in_features")
        assert number is not None
        edit = _edits.replaced(found.made.filename, number, "65")
        return told("linear-size-mismatch", crash, fixes=[Fix("make it 65", (edit,))])  # type: ignore[arg-type]

    monkeypatch.setattr(linear_size_mismatch, "explain", useless)
    assert fixes(tmp_path) == []
