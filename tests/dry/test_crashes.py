"""A crash is explained: by its own name, at its line, with the history that led to it and what mends it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from rehearsing import rehearsed

from sleuth import editing
from sleuth.findings import Finding

HEAD = """\
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
"""


@dataclass
class Case:
    """A program below HEAD: what is found in it, on which of its own lines, in which words, and a line once mended."""

    source: str
    line: int
    title: str
    mended: str = ""
    scenario: dict[str, Any] | None = None


def found_in(folder: Path, source: str, **scenario: Any) -> list[Finding]:
    return list(rehearsed(folder, HEAD + dedent(source).lstrip("\n"), **scenario).report.findings)


def line_of(finding: Finding) -> int:
    assert finding.place is not None
    return finding.place.line - HEAD.count("\n")


def story(finding: Finding) -> list[str]:
    return [link.what for link in finding.chain]


CASES = {
    "flatten-linear-mismatch": Case(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(1, 16, 3)
                self.pool = nn.MaxPool2d(2)
                self.fc = nn.Linear(16 * 14 * 14, 10)

            def forward(self, x):
                x = self.pool(F.relu(self.conv(x)))
                return self.fc(torch.flatten(x, 1))
        model = Net().to(device)
        for (x,) in DataLoader(TensorDataset(torch.rand(64, 1, 28, 28)), batch_size=32):
            model(x.to(device))
        """,
        10,
        "fc (Linear) expects 3136 features, flatten() gives 16 × 13 × 13 = 2704",
        "self.fc = nn.Linear(16 * 13 * 13, 10)",
    ),
    "linear-size-mismatch": Case(
        """
        model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(128, 3)).to(device)
        model(torch.randn(8, 20, device=device))
        """,
        2,
        "layer 2 (Linear) expects 128 features, layer 0 (Linear) gives 64",
        "model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3)).to(device)",
    ),
    "linear-size-mismatch of a recurrent layer": Case(
        """
        words = nn.Embedding(100, 32).to(device)
        rnn = nn.LSTM(64, 16, batch_first=True).to(device)
        rnn(words(torch.randint(0, 100, (4, 9), device=device)))
        """,
        3,
        "LSTM expects 64 features, Embedding gives 32",
        "rnn = nn.LSTM(32, 16, batch_first=True).to(device)",
    ),
    "channel-mismatch": Case(
        """
        model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(num_features=32)).to(device)
        model(torch.randn(4, 3, 28, 28, device=device))
        """,
        2,
        "layer 1 (BatchNorm2d) expects 32 channels, layer 0 (Conv2d) gives 16",
        "model = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(num_features=16)).to(device)",
    ),
    "view-after-transpose": Case(
        """
        x = torch.randn(4, 5, 6, device=device)
        y = x.permute(0, 2, 1)
        print(y.view(4, -1).shape)
        """,
        3,
        "view() of what permute() left in another order",
        "print(y.reshape(4, -1).shape)",
    ),
    "embedding-too-small": Case(
        """
        words = nn.Embedding(100, 8).to(device)
        words(torch.tensor([[1, 2, 100]]).to(device))
        """,
        2,
        "Embedding has 100 rows, the index is 100",
        "words = nn.Embedding(101, 8).to(device)",
    ),
    "label-out-of-range": Case(
        """
        model = nn.Linear(4, 10).to(device)
        for x, y in DataLoader(TensorDataset(torch.randn(32, 4), torch.arange(32) % 10 + 1), batch_size=16):
            F.cross_entropy(model(x.to(device)), y.to(device))
        """,
        3,
        "label 10 for a model of 10 classes (0 to 9)",
    ),
    "batchnorm-on-one-sample": Case(
        """
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8)).to(device)
        for epoch in range(3):
            for (x,) in DataLoader(TensorDataset(torch.randn(33, 4)), batch_size=16):
                model(x.to(device))
        """,
        4,
        "layer 1 (BatchNorm1d) gets one sample",
    ),
    "shape-mismatch": Case(
        """
        x = torch.randn(2, 3, 33, 33, device=device)
        up = F.interpolate(F.max_pool2d(x, 2), scale_factor=2)
        torch.cat([x, up], 1)
        """,
        3,
        "cat(): (2, 3, 33, 33) and (2, 3, 32, 32) do not go together",
    ),
    "wrong-number-of-dimensions": Case(
        """
        model = nn.Conv2d(1, 8, 3).to(device)
        model(torch.rand(16, 784, device=device))
        """,
        2,
        "Conv2d is given (16, 784), 2 dimensions, and wants 3 or 4",
    ),
    "kernel-larger-than-input": Case(
        """
        model = nn.Sequential(nn.Conv2d(3, 8, 5), nn.MaxPool2d(4), nn.Conv2d(8, 8, 7)).to(device)
        model(torch.rand(2, 3, 28, 28, device=device))
        """,
        2,
        "only 6 × 6 is left of the picture at layer 2 (Conv2d)",
    ),
    "target-size-mismatch": Case(
        """
        model = nn.Linear(4, 1).to(device)
        y = torch.rand(2, device=device)
        nn.BCEWithLogitsLoss()(model(torch.randn(2, 4, device=device)), y)
        """,
        3,
        "binary_cross_entropy_with_logits(): the prediction is (2, 1) and the target (2,)",
        "nn.BCEWithLogitsLoss()(model(torch.randn(2, 4, device=device)), y.unsqueeze(-1))",
    ),
    "batch-size-baked-in": Case(
        """
        rnn = nn.GRU(4, 8, batch_first=True).to(device)
        for (x,) in DataLoader(TensorDataset(torch.randn(50, 5, 4)), batch_size=16):
            start = torch.zeros(1, 16, 8, device=device)
            rnn(x.to(device), start)
        """,
        4,
        "works for batches of 16, fails at one of 2",
    ),
    "batch-size-baked-in a view": Case(
        """
        for (x,) in DataLoader(TensorDataset(torch.randn(50, 5, 4)), batch_size=16):
            x.view(16, -1)
        """,
        2,
        "works for batches of 16, fails at one of 2",
    ),
    "uneven-samples-stacked": Case(
        """
        for batch in DataLoader([torch.zeros(n) for n in range(3, 9)], batch_size=3):
            pass
        """,
        1,
        "the samples of a batch have different sizes: (3) and (4)",
    ),
    "index-out-of-bounds": Case(
        """
        x = torch.randn(4, 3, device=device)
        x.gather(1, torch.full((4, 1), 3, device=device))
        """,
        2,
        "index 3 in a dimension of 3 (dimension 1 of (4, 3)): the last is 2",
    ),
    "batch-left-on-cpu": Case(
        """
        def train():
            model, criterion = nn.Linear(4, 3).to(device), nn.CrossEntropyLoss()
            for x, y in DataLoader(TensorDataset(torch.randn(32, 4), torch.randint(0, 3, (32,))), batch_size=16):
                loss = criterion(model(x.to(device)), y)
        train()
        """,
        4,
        "y comes from the DataLoader and was never moved to cuda:0",
        "loss = criterion(model(x.to(device)), y.to(device))",
    ),
    "discarded-result": Case(
        """
        model = nn.Linear(4, 3).to(device)
        for (x,) in DataLoader(TensorDataset(torch.randn(32, 4)), batch_size=16):
            x.to(device)
            model(x)
        """,
        3,
        "the copy of x on cuda:0 is thrown away, x itself stays on the CPU",
        "x = x.to(device)",
    ),
    "tensor-on-cpu-in-forward": Case(
        """
        class Noisy(nn.Module):
            def forward(self, x):
                return x + torch.randn(x.shape[0], 4)
        Noisy()(torch.randn(2, 4, device=device))
        """,
        3,
        "randn() in Noisy stays on the CPU, the rest is on cuda:0",
        "return x + torch.randn(x.shape[0], 4, device=x.device)",
    ),
    "modules-in-plain-list": Case(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(4, 4) for _ in range(3)]
            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        Net().to(device)(torch.randn(2, 4, device=device))
        """,
        7,
        "torch does not see the layers in the plain list self.layers: they stay on the CPU",
        "self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])",
    ),
    "tensor-attribute-not-buffer": Case(
        """
        class Positions(nn.Module):
            def __init__(self):
                super().__init__()
                table = torch.zeros(50, 8)
                self.table = table.unsqueeze(0)
            def forward(self, x):
                return x + self.table[:, : x.size(1)]
        nn.Sequential(nn.Linear(4, 8), Positions()).to(device)(torch.randn(2, 7, 4, device=device))
        """,
        7,
        "self.table of Positions is a plain tensor: .to() left it on the CPU",
        'self.register_buffer("table", table.unsqueeze(0))',
    ),
    "mixed-devices": Case(
        """
        model = nn.Linear(4, 3).to("cuda:1")
        x = torch.randn(2, 4).cuda()
        model(x)
        """,
        3,
        "x is on cuda:0, the rest on cuda:1",
        "model(x.to(next(model.parameters()).device))",
        {"cards": 2},
    ),
    "optimizer-state-left-on-cpu": Case(
        """
        model = nn.Linear(4, 3)
        optimizer = torch.optim.Adam(model.parameters())
        for place in ("cpu", device):
            model.to(place)
            optimizer.zero_grad()
            model(torch.randn(2, 4, device=place)).sum().backward()
            optimizer.step()
        """,
        7,
        "exp_avg of Adam is on cpu, its parameter on cuda:0",
    ),
    "device-mismatch": Case(
        """
        rnn = nn.LSTM(4, 8).to(device)
        def start():
            return torch.zeros(1, 2, 8), torch.zeros(1, 2, 8)
        hidden = start()
        rnn(torch.randn(7, 2, 4, device=device), hidden)
        """,
        5,
        "hidden[0] (zeros(), line 9) is on cpu, the rest on cuda:0",
        "return torch.zeros(1, 2, 8, device=device), torch.zeros(1, 2, 8, device=device)",
    ),
    "device-mismatch of a model never moved": Case(
        """
        model = nn.Linear(4, 3)
        model(torch.randn(2, 4, device=device))
        """,
        2,
        "the model is still on cpu, what it is given on cuda:0",
    ),
    "hard-coded-cuda": Case(
        "nn.Linear(3, 3).cuda()",
        1,
        "the program needs a GPU without asking whether there is one",
        scenario={"device": "cpu"},
    ),
    "numpy-of-cuda-tensor": Case(
        """
        out = nn.Linear(4, 3).to(device)(torch.randn(2, 4, device=device))
        out.numpy()
        """,
        2,
        "a tensor on cuda:0 is given to NumPy, which cannot read it",
        "out.detach().cpu().numpy()",
    ),
    "float64-into-float32-model": Case(
        """
        model = nn.Linear(4, 3).to(device)
        x = torch.from_numpy(np.random.rand(8, 4)).to(device)
        model(x)
        """,
        3,
        "x is float64 since from_numpy() (line 8), the weights are float32",
        "x = torch.from_numpy(np.random.rand(8, 4)).float().to(device)",
    ),
    "class-targets-as-float": Case(
        """
        y = torch.tensor([0, 1], dtype=torch.int32, device=device)
        F.cross_entropy(torch.randn(2, 3, device=device), y)
        """,
        2,
        "cross_entropy() wants targets of int64, these are int32",
        "F.cross_entropy(torch.randn(2, 3, device=device), y.long())",
    ),
    "dtype-mismatch": Case(
        """
        model = nn.Linear(4, 3).to(device)
        x = torch.tensor([[1, 2, 3, 4]], device=device)
        model(x)
        """,
        3,
        "x is int64, weight is float32",
        "model(x.to(torch.float32))",
    ),
    "inplace-breaks-backward": Case(
        """
        gate = torch.sigmoid(nn.Linear(4, 3)(torch.randn(2, 4)))
        gate += 1
        gate.sum().backward()
        """,
        2,
        "`+=` changes (2, 3) in place, and sigmoid() needs the value it had",
    ),
    "inplace-breaks-backward by an assignment": Case(
        """
        a, b = nn.Linear(4, 4), nn.Linear(4, 4)
        h = a(torch.randn(2, 4))
        y = b(h)
        h[:, 0] = 0
        (y + h).sum().backward()
        """,
        4,
        "an assignment changes (2, 4) in place, and linear() needs the value it had",
    ),
    "inplace-breaks-backward by an optimiser": Case(
        """
        model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x = torch.randn(2, 4, device=device)
        score = model(x)
        score.mean().backward(retain_graph=True)
        optimizer.step()
        score.square().mean().backward()
        """,
        7,
        "an optimiser has changed 2.weight between the forward pass and this backward pass",
    ),
    "inplace-breaks-backward by a layer": Case(
        """
        model = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid(), nn.ReLU(inplace=True)).to(device)
        out = model(torch.randn(2, 4, device=device))
        out.mean().backward()
        """,
        2,
        "layer 2 (ReLU) changes (2, 4) in place, and sigmoid() needs the value it had",
    ),
    "inplace-breaks-backward through a view": Case(
        """
        model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(inplace=True), nn.Flatten(), nn.Dropout(0.1, inplace=True))
        out = model(torch.randn(2, 1, 8, 8))
        out.mean().backward()
        """,
        2,
        "layer 3 (Dropout) changes (2, 144) in place, and relu_() needs the value it had",
    ),
    "backward-twice of two losses": Case(
        """
        shared = torch.tanh(nn.Linear(4, 4)(torch.randn(2, 4)))
        one, other = nn.Linear(4, 1)(shared).mean(), nn.Linear(4, 2)(shared).mean()
        one.backward()
        other.backward()
        """,
        4,
        "two backward passes go through shared",
    ),
    "backward-twice": Case(
        """
        rnn = nn.GRU(4, 8, batch_first=True)
        hidden = torch.zeros(1, 16, 8)
        for x in torch.randn(3, 16, 5, 4):
            out, hidden = rnn(x, hidden)
            out.square().mean().backward()
        """,
        5,
        "hidden carries its graph from one round to the next",
    ),
    "loss-without-graph": Case(
        """
        guess = nn.Linear(4, 3)(torch.randn(2, 4)).argmax(1).float()
        loss = (guess - 1).square().mean()
        loss.backward()
        """,
        3,
        "argmax() gives whole numbers, which have no gradient: the loss hangs on no parameter",
    ),
    "loss-not-scalar": Case(
        """
        loss = F.cross_entropy(nn.Linear(4, 3)(torch.randn(2, 4)), torch.tensor([0, 1]), reduction="none")
        loss.backward()
        """,
        2,
        "backward() of (2,), it wants one number",
        "loss.mean().backward()",
    ),
    "many-values-as-one": Case(
        """
        x = torch.randn(4, device=device)
        if x > 0:
            print("positive")
        """,
        2,
        "one value is needed, and the tensor is (4,)",
    ),
    "checkpoint-does-not-load": Case(
        """
        torch.save(nn.DataParallel(nn.Linear(4, 3)).state_dict(), "model.pt")
        nn.Linear(4, 3).load_state_dict(torch.load("model.pt"))
        """,
        2,
        "the checkpoint's names begin with 'module.', those of Linear do not",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_crash_is_told_by_its_name_at_its_line_with_its_fix(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    (finding,) = found_in(tmp_path, case.source, **(case.scenario or {}))
    assert finding.diagnosis == name.split()[0]
    assert line_of(finding) == case.line
    assert finding.title.startswith(case.title)
    assert finding.certainty == "certain"
    if case.mended and sys.version_info >= (3, 11):  # before that Python knew the line, not the place in it
        mended = editing.apply((tmp_path / "train.py").read_text(), finding.fixes[0].edits)
        assert mended is not None
        assert case.mended in [line.strip() for line in mended.splitlines()]


@pytest.mark.parametrize("name", ["flatten-linear-mismatch", "device-mismatch", "tensor-attribute-not-buffer"])
def test_a_fix_that_is_made_mends_the_program(name: str, tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, CASES[name].source)
    mended = editing.apply((tmp_path / "train.py").read_text(), finding.fixes[0].edits)
    assert mended is not None
    assert found_in(tmp_path, mended.removeprefix(HEAD)) == []


@pytest.mark.parametrize("name", ["flatten-linear-mismatch", "channel-mismatch", "batch-left-on-cpu", "backward-twice"])
def test_fake_numbers_are_explained_alike(name: str, tmp_path: Path) -> None:
    (real,), (fake,) = (found_in(tmp_path, CASES[name].source, numbers=numbers) for numbers in ("real", "fake"))
    assert (fake.diagnosis, fake.title, story(fake), fake.fixes) == (
        real.diagnosis,
        real.title,
        story(real),
        real.fixes,
    )


def test_the_history_of_shapes_goes_back_to_the_input_layer_by_layer(tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, CASES["flatten-linear-mismatch"].source)
    assert story(finding) == [
        "the DataLoader gave (32, 1, 28, 28)",
        "conv (Conv2d) made (32, 16, 26, 26) of (32, 1, 28, 28)",
        "pool (MaxPool2d) made (32, 16, 13, 13) of (32, 16, 26, 26)",
        "flatten() in Net made (32, 2704) of (32, 16, 13, 13)",
        "fc (Linear) is made for 3136 features and is given 2704",
    ]
    lines = [link.place.line - HEAD.count("\n") for link in finding.chain if link.place is not None]
    assert lines == [12, 9, 9, 10, 6]


def test_a_long_history_is_told_by_its_beginning_and_its_end(tmp_path: Path) -> None:
    (finding,) = found_in(
        tmp_path,
        """
        layers = [nn.Linear(width, width + 1) for width in range(4, 44)]
        nn.Sequential(*layers, nn.Linear(99, 1))(torch.randn(2, 4))
        """,
    )
    told = story(finding)
    assert len(told) < 20
    assert told[0] == "randn() gave (2, 4)"
    assert any(what.startswith("…") for what in told)
    assert told[-2] == "layer 39 (Linear) made (2, 44) of (2, 43)"


def test_a_device_mismatch_says_where_the_tensor_was_made_and_never_moved(tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, CASES["batch-left-on-cpu"].source)
    assert story(finding)[0] == "the DataLoader made (16,) on cpu"


def test_a_number_with_a_name_is_not_replaced(tmp_path: Path) -> None:
    source = """
        width = 128
        model = nn.Sequential(nn.Linear(20, 64), nn.Linear(width, 3))
        model(torch.randn(8, 20))
        """
    (finding,) = found_in(tmp_path, source)
    assert finding.fixes[0].title == "Linear(in_features 128 → 64)"
    assert finding.fixes[0].edits == ()


def test_an_error_of_the_programs_own_is_certain_as_long_as_nothing_was_left_out(tmp_path: Path) -> None:
    (finding,) = found_in(tmp_path, "{}['learning rate']")
    assert (finding.diagnosis, finding.certainty) == ("crash-in-rehearsal", "certain")


def test_it_is_a_hint_once_rounds_were_left_out(tmp_path: Path) -> None:
    source = """
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        seen = []
        for x in torch.randn(100, 8, 4):
            optimizer.zero_grad()
            loss = model(x).mean()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
        assert len(seen) == 100
        """
    (finding,) = found_in(tmp_path, source)
    assert (finding.diagnosis, finding.certainty, finding.severity) == ("crash-in-rehearsal", "hint", "note")


def test_what_was_gathered_in_a_shortened_loop_does_not_count_as_a_wrong_shape(tmp_path: Path) -> None:
    source = """
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        data, target = torch.randn(100, 8, 4), torch.randn(800, 1)
        seen = []
        for x in data:
            optimizer.zero_grad()
            out = model(x)
            out.mean().backward()
            optimizer.step()
            seen.append(out.detach())
        print((torch.cat(seen) - target).mean())
        """
    assert [finding.severity for finding in found_in(tmp_path, source)] == ["note"]


@pytest.mark.parametrize(
    "source",
    [
        "open('nowhere.csv')",
        "import a_library_nobody_has",
        "raise SystemExit(2)",
        "input('how many epochs? ')",
        "import os\nos.environ['A_RANK_NOBODY_SET']",
        "raise ConnectionError('no network')",
        "raise RuntimeError('Dataset not found or corrupted. You can use download=True to download it')",
    ],
)
def test_what_lies_outside_of_the_program_is_no_finding(source: str, tmp_path: Path) -> None:
    done = rehearsed(tmp_path, source)
    assert done.report.findings == ()
    assert done.plain.how == "cannot go on"


def test_a_fault_of_ours_does_not_lose_the_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sleuth.dry.crashes import linear_size_mismatch

    monkeypatch.setattr(linear_size_mismatch, "explain", lambda crash: 1 / 0)
    (finding,) = found_in(tmp_path, CASES["linear-size-mismatch"].source)
    assert finding.diagnosis == "shape-mismatch"


CUDA_BY_OPTION = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args()
nn.Linear(3, 3).to(args.device)
"""


def test_a_card_that_the_user_asked_for_is_a_hint(tmp_path: Path) -> None:
    def certainty(source: str, *arguments: str) -> str:
        source = HEAD + dedent(source).lstrip("\n")
        (finding,) = rehearsed(tmp_path, source, *arguments, device="cpu").report.findings
        assert finding.diagnosis == "hard-coded-cuda"
        return finding.certainty

    by_argument = "import sys\nnn.Linear(3, 3).to(sys.argv[2])\n"
    assert certainty(by_argument, "--device", "cuda:0") == "hint"
    assert certainty(CUDA_BY_OPTION) == "hint"
    assert certainty("card = 'cuda'\nnn.Linear(3, 3).to(card)\n") == "certain"
    assert certainty("nn.Linear(3, 3).cuda()\n") == "certain"
    assert certainty("nn.Linear(3, 3).cuda()\n", "--gpu", "0") == "hint"
