"""Memory as a whole rehearsal tells it: cards told apart, fake as real, and what does not fit."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("torch._dynamo")  # and not in each rehearsal anew

from sleuth import handbook
from sleuth.dry.journal import Outcome
from sleuth.dry.memory.largest_batch import largest_batch
from sleuth.dry.rehearsal import hold
from sleuth.dry.scenario import Scenario

TRAINS = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(200, 100), torch.randint(0, 10, (200,)))
model = nn.Sequential(nn.Linear(100, 400), nn.ReLU(), nn.Dropout(0.1), nn.Linear(400, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
for x, y in DataLoader(data, batch_size=50):
    loss = nn.functional.cross_entropy(model(x.cuda()), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ON_TWO_CARDS = """\
import torch
from torch import nn

first, second = nn.Linear(1000, 500, bias=False).to("cuda:0"), nn.Linear(500, 250, bias=False).to("cuda:1")
optimizer = torch.optim.SGD([*first.parameters(), *second.parameters()], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    second(first(torch.randn(8, 1000, device="cuda:0")).to("cuda:1")).sum().backward()
    optimizer.step()
"""
FIRST, SECOND = 1000 * 500 * 4, 500 * 250 * 4


def rehearsed(folder: Path, source: str, **scenario: object) -> Outcome:
    script = folder / "train.py"
    script.write_text(source, encoding="utf-8")
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    outcome = hold(Scenario(str(script), **scenario), scratch)  # type: ignore[arg-type]
    assert outcome.how == "ended", outcome.notes
    return outcome


def test_fake_numbers_tell_the_memory_that_real_ones_tell(tmp_path: Path) -> None:
    real, fake = (rehearsed(tmp_path, TRAINS, numbers=numbers).notes["memory"] for numbers in ("real", "fake"))
    assert real["devices"]["cuda:0"] == fake["devices"]["cuda:0"]
    assert (real["flops"], real["parameters"], real["batch"]) == (fake["flops"], fake["parameters"], 50)
    kinds = real["devices"]["cuda:0"]["kinds"]
    weights = 160_256 + 2_048 + 16_384 + 512  # each of the four in whole blocks of 512 bytes
    assert kinds["weights"] == kinds["gradients"] == weights
    assert kinds["optimiser state"] >= 2 * weights


def test_each_card_holds_what_was_put_on_it(tmp_path: Path) -> None:
    devices = rehearsed(tmp_path, ON_TWO_CARDS, cards=2).notes["memory"]["devices"]
    for name, weights in (("cuda:0", FIRST), ("cuda:1", SECOND)):
        kinds = devices[name]["kinds"]
        assert weights <= kinds["weights"] < weights + 512
        assert weights <= kinds["gradients"] < weights + 512


def blocks() -> dict[str, str]:
    section = handbook.page("does-not-fit-the-card").sections["How to fix"]
    return dict(re.findall(r"^```python (before|after)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL))


def test_the_program_on_the_page_does_not_fit_and_mended_it_does(tmp_path: Path) -> None:
    before = rehearsed(tmp_path, blocks()["before"], numbers="fake")
    (finding,) = [one for one in before.findings if one.diagnosis == "does-not-fit-the-card"]
    assert finding.certainty == "certain"
    assert finding.place is not None
    assert "model(x)" in (finding.place.code or "")
    assert any("checkpoint" in fix.title for fix in finding.fixes)
    after = rehearsed(tmp_path, blocks()["after"], numbers="fake")
    assert not after.findings


def test_the_largest_batch_of_a_real_program(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINS.replace("200", "2000").replace("batch_size=50", "batch_size=1000"), encoding="utf-8")
    found = largest_batch(Scenario(str(script), card_bytes=700 << 20))
    assert found.batch is not None
    assert found.batch > 2000
    assert "the program's own is 1,000" in found.sentence
