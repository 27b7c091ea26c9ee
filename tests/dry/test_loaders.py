"""DataLoaders deal the first batches and the last, in the program's own process."""

from __future__ import annotations

from pathlib import Path

from rehearsing import assumptions, rehearsed

HEAD = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def step(x):
    loss = model(x).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
seen = []
"""


def sizes(tmp_path: Path, loop: str, wanted: object, **scenario: int) -> dict[int, str]:
    source = f"{HEAD}{loop}\nif seen != {wanted!r}:\n    torch.ones(2) + torch.ones(3)\n"
    done = rehearsed(tmp_path, source, **scenario)
    assert done.plain.how == "ended", (done.plain.how, done.plain.notes, done.report.findings)
    return assumptions(done)


LOADER = "loader = DataLoader(TensorDataset(torch.randn(10_000, 4)), batch_size=64, num_workers=8, pin_memory=True)\n"


def test_the_last_uneven_batch_is_dealt(tmp_path: Path) -> None:
    told = sizes(tmp_path, LOADER + "for (x,) in loader:\n    step(x)\n    seen.append(len(x))", [64, 64, 16])
    assert "DataLoader: 3 batches of 157" in told.values()


def test_also_behind_enumerate_and_zip(tmp_path: Path) -> None:
    sizes(tmp_path, LOADER + "for i, (x,) in enumerate(loader):\n    step(x)\n    seen.append(len(x))", [64, 64, 16])


def test_a_loop_that_only_looks_at_batches_sees_them_all(tmp_path: Path) -> None:
    loop = LOADER + "seen = sum(len(x) for (x,) in loader)"
    sizes(tmp_path, loop, 10_000)


def test_the_length_stays_the_real_one(tmp_path: Path) -> None:
    sizes(tmp_path, LOADER + "seen = len(loader)", 157)


def test_another_size_of_batch_can_be_asked_for(tmp_path: Path) -> None:
    loop = LOADER + "for (x,) in loader:\n    step(x)\n    seen.append(len(x))"
    sizes(tmp_path, loop, [1, 1, 1], batch=1)


def test_an_iterable_data_set_is_left_after_the_first_batches(tmp_path: Path) -> None:
    loop = """
class Endless(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.ones(4)
for x in DataLoader(Endless(), batch_size=3):
    step(x)
    seen.append(len(x))
"""
    sizes(tmp_path, loop, [3, 3])


def test_a_crash_at_the_last_batch_says_so(tmp_path: Path) -> None:
    loop = LOADER + "hidden = torch.zeros(64, 4)\nfor (x,) in loader:\n    step(x + hidden)\n"
    done = rehearsed(tmp_path, HEAD + loop)
    (finding,) = done.report.findings
    assert "at the last batch of each epoch: 10,000 % 64 = 16" in finding.title
