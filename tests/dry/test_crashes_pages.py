"""The pages of crashes: what they show crashes in a rehearsal, by its own name, and the mended code does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from rehearsing import rehearsed
from torch import nn

from sleuth import handbook
from sleuth.dry import crashes

NAMES = [name for name, _ in crashes.in_order()]
# Their blocks crash; those of the others are written for whoever else looks for them.
ALONE = [name for name in NAMES if handbook.page(name).engines in (("dry",), ("dry", "live"))]
BLOCK = re.compile(r"^```python (\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# They crash where there is no card.
WITHOUT_A_CARD = {"load-without-map-location"}


def diagnoses(folder: Path, name: str, label: str) -> set[str]:
    source = dict(BLOCK.findall(handbook.page(name).text))[label]
    device = "cpu" if name in WITHOUT_A_CARD else "cuda"
    return {finding.diagnosis for finding in rehearsed(folder, source, device=device).report.findings}


@pytest.fixture(autouse=True)
def a_checkpoint_of_a_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a program with a GPU would have left it."""
    monkeypatch.setattr(torch.serialization, "location_tag", lambda storage: "cuda:0")
    torch.save(nn.Linear(4, 3).state_dict(), tmp_path / "model.pt")
    monkeypatch.undo()


@pytest.mark.parametrize("name", NAMES)
def test_every_crash_has_a_page_that_names_its_engine(name: str) -> None:
    assert "dry" in handbook.page(name).engines


@pytest.mark.parametrize("name", ALONE)
def test_the_before_block_crashes_in_the_rehearsal(name: str, tmp_path: Path) -> None:
    assert diagnoses(tmp_path, name, "before") == {name}


@pytest.mark.parametrize("name", ALONE)
def test_the_after_block_comes_to_its_end(name: str, tmp_path: Path) -> None:
    assert diagnoses(tmp_path, name, "after") == set()


def test_a_crash_is_asked_for_before_those_it_refines() -> None:
    for name, module in crashes.in_order():
        for refined in getattr(module, "REFINES", ()):
            assert NAMES.index(name) < NAMES.index(refined.replace("_", "-")), (name, refined)
