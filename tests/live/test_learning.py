"""Programs in other words than the zoo's: bugs that are named, and odd-looking ones that are right."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(640, 8)
Y = (X[:, 0] + X[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
"""

BUGS = {
    "zero_grad of one of two optimisers": (
        "missing-zero-grad",
        "loss.backward()",
        """
        first = torch.optim.SGD(net[0].parameters(), 0.05)
        second = torch.optim.SGD(net[2].parameters(), 0.05)
        for i in range(60):
            loss = F.cross_entropy(net(X), Y)
            first.zero_grad()
            loss.backward()
            first.step()
            second.step()
        """,
    ),
    "layers in a dict": (
        "parameters-not-in-optimizer",
        'self.heads = {"a": nn.Linear(8, 2)}',
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.body = nn.Linear(8, 8)
                self.heads = {"a": nn.Linear(8, 2)}

            def forward(self, x):
                return self.heads["a"](torch.relu(self.body(x)))

        model = Model()
        optimizer = torch.optim.Adam(model.parameters())
        for i in range(40):
            optimizer.zero_grad()
            F.cross_entropy(model(X), Y).backward()
            optimizer.step()
        """,
    ),
    "softmax as a method": (
        "softmax-before-cross-entropy",
        "return net(x).softmax(-1)",
        """
        def predict(x):
            return net(x).softmax(-1)

        optimizer = torch.optim.Adam(net.parameters())
        for i in range(40):
            optimizer.zero_grad()
            F.cross_entropy(predict(X), Y).backward()
            optimizer.step()
        """,
    ),
    "a decorated evaluation that leaves the model in eval": (
        "model-left-in-eval",
        "model.eval()",
        """
        model = nn.Sequential(net, nn.Dropout(0.2))
        optimizer = torch.optim.Adam(model.parameters())

        @torch.no_grad()
        def accuracy():
            model.eval()
            return (model(X).argmax(1) == Y).float().mean()

        for epoch in range(6):
            for i in range(0, 640, 64):
                optimizer.zero_grad()
                F.cross_entropy(model(X[i:i + 64]), Y[i:i + 64]).backward()
                optimizer.step()
            accuracy()
        """,
    ),
    "a history of tensors": (
        "loss-keeps-graph",
        'history["loss"].append(loss)',
        """
        optimizer = torch.optim.Adam(net.parameters())
        history = {"loss": []}
        for i in range(60):
            loss = F.cross_entropy(net(X), Y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            history["loss"].append(loss)
        """,
    ),
    "a scheduler that makes the rate 0": (
        "learning-rate-zero",
        "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step // 1000)",
        """
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: step // 1000)
        for i in range(40):
            optimizer.zero_grad()
            F.cross_entropy(net(X), Y).backward()
            optimizer.step()
            scheduler.step()
        """,
    ),
    "a loss that was cut off from everything": (
        "graph-cut",
        "loss = torch.tensor(F.cross_entropy(net(X), Y).item(), requires_grad=True)",
        """
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        for i in range(40):
            loss = torch.tensor(F.cross_entropy(net(X), Y).item(), requires_grad=True)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        """,
    ),
    "a rate a thousand times too high": (
        "learning-rate-too-high",
        "optimizer = torch.optim.SGD(net.parameters(), 30.0, momentum=0.9)",
        """
        net = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2))
        optimizer = torch.optim.SGD(net.parameters(), 30.0, momentum=0.9)
        for i in range(300):
            rows = torch.randint(640, (32,))
            optimizer.zero_grad()
            F.cross_entropy(net(X[rows]), Y[rows]).backward()
            optimizer.step()
        """,
    ),
}

RIGHT = {
    "a regression whose targets lie far from where it starts": """
        torch.manual_seed(1)
        X = torch.randn(64)
        Y = 2 * X + 3 + 0.1 * torch.randn(64)
        line = nn.Linear(1, 1)
        optimizer = torch.optim.AdamW(line.parameters(), 1e-2)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, 150)
        loader = DataLoader(TensorDataset(X, Y), batch_size=8, shuffle=True)
        for epoch in range(19):
            for x, y in loader:
                loss = F.mse_loss(line(x.unsqueeze(-1)).squeeze(-1), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
    """,
    "agents that zero and step in turn": """
        models = [nn.Linear(8, 2) for _ in range(3)]
        optimizers = [torch.optim.Adam(m.parameters(), 1e-2) for m in models]
        for i in range(60):
            for model, optimizer in zip(models, optimizers):
                optimizer.zero_grad()
                F.cross_entropy(model(X), Y).backward()
            for optimizer in optimizers:
                optimizer.step()
        """,
    "a search over learning rates from the same weights": """
        start = {name: value.clone() for name, value in net.state_dict().items()}
        for rate in (1e-3, 1e-2, 1e-1, 1e-2, 1e-3):
            net.load_state_dict(start)
            optimizer = torch.optim.Adam(net.parameters(), rate)
            for i in range(30):
                optimizer.zero_grad()
                F.cross_entropy(net(X), Y).backward()
                optimizer.step()
        """,
    "a positional grid beside the real input": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.mix = nn.Linear(12, 2)

            def forward(self, grid, x):
                return self.mix(torch.cat([grid, x], 1))

        model = Model()
        optimizer = torch.optim.Adam(model.parameters(), 1e-2)
        for i in range(150):
            optimizer.zero_grad()
            F.cross_entropy(model(torch.ones(640, 4), X), Y).backward()
            optimizer.step()
        """,
    "seeds set many times before training": """
        for i in range(20):
            torch.manual_seed(1)
            torch.randn(3)
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for i in range(60):
            optimizer.zero_grad()
            F.cross_entropy(net(X), Y).backward()
            optimizer.step()
        """,
    "a head warmed up before its body is thawed": """
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for i in range(120):
            if i < 40:
                with torch.no_grad():
                    hidden = net[1](net[0](X))
            else:
                hidden = net[1](net[0](X))
            optimizer.zero_grad()
            F.cross_entropy(net[2](hidden), Y).backward()
            optimizer.step()
        """,
    "weights put into a compiled model": """
        model = torch.compile(net, backend="eager")
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for i in range(60):
            optimizer.zero_grad()
            F.cross_entropy(model(X), Y).backward()
            optimizer.step()
        """,
}


def body(source: str) -> str:
    lines = source.strip("\n").splitlines()
    return HEAD + "\n".join(line[8:] for line in lines) + "\n"


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_named_at_its_line(name: str, run_script: Callable[..., Any]) -> None:
    diagnosis, line, source = BUGS[name]
    ran = run_script(body(source))
    assert (ran.only["diagnosis"], ran.only["place"]["line"]) == (diagnosis, _line(body(source), line))


def _line(source: str, wanted: str) -> int:
    return next(i for i, line in enumerate(source.lstrip("\n").splitlines(), 1) if line.strip() == wanted)


@pytest.mark.parametrize("name", RIGHT)
def test_an_odd_program_that_is_right_gets_no_finding(name: str, run_script: Callable[..., Any]) -> None:
    ran = run_script(body(RIGHT[name]))
    assert (ran.findings, ran.status) == ([], 0)
    assert "inside Sleuth" not in ran.stderr


def test_a_fix_that_an_experiment_confirmed_is_marked_verified(run_script: Callable[..., Any]) -> None:
    ran = run_script(body(BUGS["a rate a thousand times too high"][2]))
    assert [fix["verified"] for fix in ran.only["fixes"]] == [True]


def test_with_no_time_for_experiments_nothing_is_claimed_that_needs_one(run_script: Callable[..., Any]) -> None:
    ran = run_script(body(BUGS["a rate a thousand times too high"][2]), options=("--experiments", "0"))
    assert "learning-rate-too-high" not in {finding["diagnosis"] for finding in ran.findings}


def test_what_is_wired_wrongly_is_said_while_the_program_runs_on(run_script: Callable[..., Any]) -> None:
    ran = run_script(body(BUGS["zero_grad of one of two optimisers"][2]) + "print('to the end')\n")
    assert "missing-zero-grad" in ran.stderr
    assert "to the end" in ran.stdout
    assert ran.status == 1


LONG = """
import resource, sys
import torch
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(10_000):
    x = torch.randn(16, 4)
    loss = nn.functional.cross_entropy(model(x), (x.sum(1) > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step in (3_000, 9_999):
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
print([p.double().sum().item().hex() for p in model.parameters()])
"""


def test_ten_thousand_steps_take_no_more_memory_and_leave_the_weights_as_they_are(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "train.py").write_text(LONG)
    command = [sys.executable, "-m", "sleuth", "run", "train.py"]
    watched = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    bare = subprocess.run(
        [sys.executable, "train.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert watched.stdout == bare.stdout
    assert "nothing found in 10,000 steps" in watched.stderr
    early, late = (int(line) for line in watched.stderr.splitlines() if line.isdigit())
    assert late - early < 4_000, "kilobytes more at step 10,000 than at step 3,000"
    (record,) = tmp_path.glob(".sleuth/runs/*/record.jsonl")
    assert record.stat().st_size < 2_000_000
