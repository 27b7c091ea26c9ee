"""What the last batch of an epoch is blamed for: its size, where that is why, and never one of its samples."""

from __future__ import annotations

from pathlib import Path

from rehearsing import rehearsed

TRAINING = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.randn(70, 4), torch.randint(0, 3, (70,))
{data}
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle={shuffle}):
        {check}
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def found(folder: Path, data: str = "", check: str = "pass", shuffle: bool = False) -> tuple[str, dict[str, object]]:
    done = rehearsed(folder, TRAINING.format(data=data, check=check, shuffle=shuffle))
    (finding,) = done.report.findings
    return finding.title, {item.name: item.value for item in finding.evidence}


def test_a_sample_of_the_last_batch_is_named_and_not_the_size(tmp_path: Path) -> None:
    title, evidence = found(tmp_path, data="y[67] = 7")
    assert "label 7" in title
    assert "last batch" not in title
    assert evidence["samples of that batch"] == (64, 65, 66, 67, 68, 69)


def test_an_assertion_on_the_size_is_told_as_one_of_the_last_batch(tmp_path: Path) -> None:
    title, evidence = found(tmp_path, check="assert len(inputs) == 16", shuffle=True)
    assert "at the last batch of each epoch: 70 % 16 = 6" in title
    assert "samples of that batch" not in evidence


def test_a_sample_that_is_too_long_is_no_matter_of_the_batch_size(tmp_path: Path) -> None:
    source = """
        import torch
        from torch import nn
        from torch.utils.data import DataLoader
        samples = [torch.randn(10, 8)] * 69 + [torch.randn(57, 8)]
        places = torch.arange(16.0)[:, None] * torch.ones(8)
        model = nn.Linear(8, 3)
        collate = lambda batch: nn.utils.rnn.pad_sequence(batch, batch_first=True)
        for x in DataLoader(samples, batch_size=16, collate_fn=collate):
            model(x + places[: x.shape[1]]).sum().backward()
        """
    (finding,) = rehearsed(tmp_path, source).report.findings
    assert finding.diagnosis == "shape-mismatch"
    assert "last batch" not in finding.title
    assert not finding.fixes
