"""`sleuth run` on the shapes that training programs have."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

MODEL = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
X, Y = torch.randn(96, 4), torch.randn(96, 1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
"""


def line_of(source: str, text: str) -> int:
    lines = textwrap.dedent(source).lstrip("\n").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


BROKEN = "torch.log(out * 0)"

LOOPS = {
    "a loader": """
for x, y in DataLoader(TensorDataset(X, Y), batch_size=8):
    out = model(x)
    loss = ((out - y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a loader with workers": """
for x, y in DataLoader(TensorDataset(X, Y), batch_size=8, num_workers=2):
    out = model(x)
    loss = ((out - y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "two loaders zipped": """
one = DataLoader(TensorDataset(X), batch_size=8, shuffle=True)
two = DataLoader(TensorDataset(Y), batch_size=8, shuffle=True)
for (x,), (y,) in zip(one, two):
    out = model(x)
    loss = ((out - y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a full batch": """
for epoch in range(12):
    out = model(X)
    loss = ((out - Y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "slices by hand": """
for epoch in range(2):
    for i in range(0, 96, 8):
        x, y = X[i : i + 8], Y[i : i + 8]
        out = model(x)
        loss = ((out - y) ** 2).mean()
        if calls() == 4:
            loss = loss + torch.log(out * 0).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "a while loop": """
step = 0
while step < 12:
    step += 1
    x = torch.randn(8, 4)
    out = model(x)
    loss = (out ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "one batch over and over": """
x, y = next(iter(DataLoader(TensorDataset(X, Y), batch_size=8)))
for step in range(12):
    out = model(x)
    loss = ((out - y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a train step in a function": """
def train_step(x, y):
    out = model(x)
    loss = ((out - y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

def main():
    for epoch in range(3):
        for i in range(0, 32, 8):
            train_step(X[i : i + 8], Y[i : i + 8])

if __name__ == "__main__":
    main()
""",
    "a compiled model": """
compiled = torch.compile(model, backend="eager")
for x, y in DataLoader(TensorDataset(X, Y), batch_size=8):
    out = compiled(x)
    loss = ((out - y) ** 2).mean()
    if calls() == 4:
        loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "autocast": """
for x, y in DataLoader(TensorDataset(X, Y), batch_size=8):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        out = model(x)
        loss = ((out - y) ** 2).mean()
        if calls() == 4:
            loss = loss + torch.log(out * 0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
}

# The fifth round is bad, and stays bad when it is run again: the counter follows the weights' own updates.
CALLS = """
before = None
rounds = -1
def calls():
    global before, rounds
    now = model.weight.detach().clone()
    if before is None or not torch.equal(now, before):
        rounds += 1
        before = now
    return rounds
"""


@pytest.mark.parametrize("loop", LOOPS)
def test_names_the_operation_the_line_and_the_step_in(loop: str, run_script: Callable) -> None:
    source = MODEL + CALLS + LOOPS[loop]
    ran = run_script(source)
    assert ran.status == 1
    assert ran.only["diagnosis"] == "log-of-zero"
    assert ran.only["place"]["line"] == line_of(source, BROKEN)
    assert ran.only["place"]["code"] == BROKEN
    assert ran.only["step"] == 4
    assert ran.evidence("operation") == "log"


def test_gradient_accumulation_names_the_micro_batch(run_script: Callable) -> None:
    source = (
        MODEL
        + """
X[43] = 0.0
scale = torch.ones(4, requires_grad=True)
optimizer.add_param_group({"params": [scale]})
loader = DataLoader(TensorDataset(X, Y), batch_size=4)
for i, (x, y) in enumerate(loader):
    length = torch.sqrt(((x * scale) ** 2).sum(1) * 2)
    loss = ((model(x) - y) ** 2).mean() + length.mean()
    (loss / 4).backward()
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
"""
    )
    ran = run_script(source)
    assert ran.only["diagnosis"] == "sqrt-gradient-at-zero"
    assert ran.only["place"]["line"] == line_of(source, "torch.sqrt(")
    assert ran.only["step"] == 2


def test_a_gan_with_two_optimisers_is_replayed_exactly(run_script: Callable) -> None:
    source = """
    import torch
    from torch import nn
    torch.manual_seed(3)
    G, D = nn.Linear(4, 8), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    opt_g, opt_d = torch.optim.Adam(G.parameters(), 1e-2), torch.optim.Adam(D.parameters(), 1e-1)
    for step in range(200):
        real = 40 * torch.randn(16, 8) + 400
        fake = 400 * G(torch.randn(16, 4))
        loss_d = nn.functional.softplus(-D(real)).mean() + nn.functional.softplus(D(fake.detach())).mean()
        opt_d.zero_grad(); loss_d.backward(); opt_d.step()
        loss_g = -torch.log(torch.sigmoid(D(fake))).mean()
        opt_g.zero_grad(); loss_g.backward(); opt_g.step()
    """
    ran = run_script(source)
    assert ran.only["diagnosis"] == "log-of-zero"
    assert ran.only["place"]["line"] == line_of(source, "torch.log(")


def test_a_closure_is_called_again_under_the_trace(run_script: Callable) -> None:
    source = (
        MODEL
        + """
optimizer = torch.optim.LBFGS(model.parameters(), lr=1, max_iter=4)
for epoch in range(5):
    def closure():
        optimizer.zero_grad()
        out = model(X)
        loss = ((out - Y) ** 2).mean()
        if epoch == 2:
            loss = loss + torch.sqrt(out - 1000).mean()
        loss.backward()
        return loss
    optimizer.step(closure)
"""
    )
    ran = run_script(source)
    assert ran.only["diagnosis"] == "sqrt-of-negative"
    assert ran.only["place"]["line"] == line_of(source, "torch.sqrt(")
    assert ran.only["step"] == 2


def test_a_custom_function_is_blamed_in_its_own_backward(run_script: Callable) -> None:
    source = (
        MODEL
        + """
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad / (x - x)

for x, y in DataLoader(TensorDataset(X, Y), batch_size=8):
    loss = ((Gate.apply(model(x)) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    )
    ran = run_script(source)
    assert ran.only["diagnosis"] == "division-by-zero"
    assert ran.only["place"]["line"] == line_of(source, "return grad / (x - x)")
    assert ran.only["step"] == 0


def test_a_loop_that_updates_by_hand_is_watched_too(run_script: Callable) -> None:
    source = """
    import torch
    torch.manual_seed(0)
    X, Y = torch.rand(64, 3), torch.rand(64)
    w = torch.full((3,), 0.5, requires_grad=True)
    for step in range(50):
        pred = (X @ w)
        loss = ((pred - Y) ** 2).mean() + 0 * torch.sqrt(w - 0.2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.zero_()
    """
    ran = run_script(source)
    assert ran.only["diagnosis"] == "sqrt-of-negative"
    assert ran.only["place"]["line"] == line_of(source, "torch.sqrt(")


def test_arguments_after_the_script_belong_to_it(run_script: Callable) -> None:
    source = """
    import argparse, torch
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--format")
    args = parser.parse_args()
    print("format", args.format)
    x, w = torch.ones(4), torch.ones(4, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=args.lr)
    for step in range(60):
        loss = ((w * x * 3) ** 2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    healthy = run_script(source, "--format", "yes")
    assert healthy.status == 0
    assert healthy.findings == []
    assert "format yes" in healthy.stdout
    diverging = run_script(source, "--lr", "3")
    assert diverging.only["diagnosis"] == "gradient-explosion"
    assert diverging.only["root_cause"] == "gradient-explosion"


def test_a_package_runs_with_m_and_its_relative_imports(script: Callable, sleuth_run: Callable) -> None:
    script("", "pkg/__init__.py")
    script(
        """
        import torch

        def loss_of(out):
            return torch.acos(out * 0 + 1.5).mean()
        """,
        "pkg/losses.py",
    )
    script(
        """
        import sys
        import torch
        from .losses import loss_of

        def main():
            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for _ in range(3):
                loss = loss_of(model(torch.ones(4, 2)))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

        if __name__ == "__main__":
            print("arguments", sys.argv[1:])
            main()
        """,
        "pkg/train.py",
    )
    ran = sleuth_run("-m", "pkg.train", "--epochs", "3")
    assert "arguments ['--epochs', '3']" in ran.stdout
    assert ran.only["diagnosis"] == "arc-function-out-of-range"
    assert ran.only["place"]["path"] == str(Path("pkg/losses.py"))
    assert ran.only["place"]["line"] == 4


def test_generators_of_the_programs_own_are_put_back_for_the_replay(run_script: Callable) -> None:
    source = (
        MODEL
        + """
import numpy as np
rng = np.random.default_rng(1)
for step in range(40):
    n = int(rng.integers(0, 12))
    x = X[:n]
    loss = (model(x) - Y[:n]).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
    )
    ran = run_script(source)
    assert ran.only["diagnosis"] == "mean-of-nothing"
    assert ran.only["place"]["line"] == line_of(source, ".abs().mean()")


def test_the_last_update_is_blamed_for_a_weight_it_broke(run_script: Callable) -> None:
    source = """
    import torch
    w = torch.nn.Parameter(torch.tensor([1.0, 1.0]))
    optimizer = torch.optim.Adam([w], lr=0.1, eps=0.0)
    for step in range(5):
        loss = (w[0] ** 2) + 0 * w[1]
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """
    ran = run_script(source)
    assert ran.only["diagnosis"] == "update-not-finite"
    assert ran.only["place"]["line"] == line_of(source, "optimizer.step()")
    assert ran.only["step"] == 0
    assert ran.evidence("weight") == "w"
    assert "eps" in ran.only["fixes"][0]["title"]


CARRIED = {
    "a hidden state": """
h = torch.zeros(1, 4)
cell = nn.RNNCell(4, 4).requires_grad_(False)
for i in range(0, 96, 8):
    x = X[i : i + 8]
    h = cell(x[:1], h.detach())
    out = model(x) + h.sum()
    loss = ((out - Y[i : i + 8]) ** 2).mean() - torch.log(x.abs().max() - LIMIT + 0 * out.mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a batch that is scaled in place of itself": """
def batches():
    for i in range(0, 96, 8):
        yield X[i : i + 8], Y[i : i + 8]

for x, y in batches():
    x = x * 1.0
    out = model(x)
    loss = ((out - y) ** 2).mean() - torch.log(x.abs().max() - LIMIT + 0 * out.mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "batches from a generator": """
def batches():
    for i in range(0, 96, 8):
        yield X[i : i + 8], Y[i : i + 8]

stream = batches()
for step in range(12):
    x, y = next(stream)
    out = model(x)
    loss = ((out - y) ** 2).mean() - torch.log(x.abs().max() - LIMIT + 0 * out.mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "a queue of batches": """
from collections import deque
queue = deque((X[i : i + 8], Y[i : i + 8]) for i in range(0, 96, 8))
while queue:
    x, y = queue.popleft()
    out = model(x)
    loss = ((out - y) ** 2).mean() - torch.log(x.abs().max() - LIMIT + 0 * out.mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
}


@pytest.mark.parametrize("loop", CARRIED)
def test_finds_the_line_although_the_round_cannot_be_repeated_as_it_was_with(loop: str, run_script: Callable) -> None:
    quiet = "X = X.clamp(-1, 1); X[:, 0] = 2.0; X[40:48, 0] = 1.5; LIMIT = 1.7\n"
    source = MODEL + quiet + CARRIED[loop]
    ran = run_script(source)
    assert ran.only["diagnosis"] == "log-of-negative"
    assert ran.only["place"]["line"] == line_of(source, "torch.log(")
    assert ran.only["step"] == 5
    assert ran.evidence("operation") == "log"


LEAVING = {
    "breaks": "if not torch.isfinite(loss): break",
    "raises": "if torch.isnan(loss): raise ValueError('NaN loss, giving up')",
    "exits": "if loss != loss: import sys; sys.exit(7)",
}


@pytest.mark.parametrize("way", LEAVING)
@pytest.mark.parametrize("loader", ["DataLoader(TensorDataset(X, Y), batch_size=8)", "zip(X.split(8), Y.split(8))"])
def test_finds_the_line_in_a_loop_that_leaves_on_a_nan_and(way: str, loader: str, run_script: Callable) -> None:
    source = (
        MODEL
        + f"""
X[20] = 2.0
for i, (x, y) in enumerate({loader}):
    x = x.to("cpu")
    out = model(x)
    loss = ((out - y) ** 2).mean() + torch.sqrt(1.9 - x.min(dim=1).values.max() + 0 * out.mean())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {LEAVING[way]}
"""
    )
    ran = run_script(source)
    assert ran.only["diagnosis"] == "sqrt-of-negative"
    assert ran.only["place"]["line"] == line_of(source, "torch.sqrt(")
    assert ran.only["step"] == 2


def test_what_is_known_is_told_when_the_program_ends_before_the_replay(run_script: Callable) -> None:
    source = (
        MODEL
        + """
def epoch(stream):
    for x, y in stream:
        out = model(x)
        loss = ((out - y) ** 2).mean() - torch.log(out.mean() * 0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()

first = next(epoch(DataLoader(TensorDataset(X, Y), batch_size=8)))
print("stopped by itself", first)
"""
    )
    ran = run_script(source)
    assert "stopped by itself" in ran.stdout
    assert ran.only["diagnosis"] == "log-of-zero"
    assert ran.evidence("known from") == "the autograd graph of the failed loss"
