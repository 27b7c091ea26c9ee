"""What a rehearsal leaves out, or makes smaller, is not held against the program."""

from __future__ import annotations

from pathlib import Path

from rehearsing import rehearsed

TRAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(4000, 4))
loader = DataLoader(data, batch_size=8)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
gathered = []
for (x,) in loader:
    loss = {loss}
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    gathered += loss.detach().flatten().tolist()
{after}
"""


def test_a_program_that_counts_what_was_left_out_goes_on_no_further(tmp_path: Path) -> None:
    after = (
        'if len(gathered) != len(loader):\n    raise ValueError(f"{len(gathered)} losses of {len(loader):,} batches")'
    )
    done = rehearsed(tmp_path, TRAIN.format(loss="model(x).sum()", after=after))
    assert done.plain.how == "cannot go on"
    assert not done.report.findings


def test_an_error_that_counts_something_else_is_a_hint(tmp_path: Path) -> None:
    after = 'raise ValueError(f"{len(gathered)} losses are not enough")'
    done = rehearsed(tmp_path, TRAIN.format(loss="model(x).sum()", after=after))
    (finding,) = done.report.findings
    assert (finding.diagnosis, finding.certainty) == ("crash-in-rehearsal", "hint")


def test_a_program_may_count_on_its_own_batch_size(tmp_path: Path) -> None:
    source = TRAIN.format(loss="model(x).view(8, 2).sum()", after="")
    assert not rehearsed(tmp_path, source, in_corners=["batch_of_one"]).report.findings
