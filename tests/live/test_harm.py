"""Watching must not change the run, and an error of ours must not reach the program."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TRAINING = """
import random
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7); random.seed(7); np.random.seed(7)
X, Y = torch.randn(256, 12), torch.randint(4, (256,))
model = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 4))
{optimizer}
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)
loader = DataLoader(TensorDataset(X, Y), batch_size=16, shuffle=True, num_workers={workers})
step = 0
for epoch in range(4):
    for x, y in loader:
        x = x + 0.01 * torch.as_tensor(np.random.randn(*x.shape), dtype=torch.float32) * random.random()
        {body}
        step += 1
    scheduler.step()
    model.eval()
    with torch.no_grad():
        print(epoch, nn.functional.cross_entropy(model(X), Y).item())
    model.train()
torch.save({{"model": model.state_dict(), "optimizer": optimizer.state_dict(), "rng": torch.get_rng_state(),
            "random": random.random(), "numpy": float(np.random.rand())}}, "weights.pt")
"""
PLAIN = """loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()"""
ACCUMULATE = """loss = nn.functional.cross_entropy(model(x), y) / 2
        loss.backward()
        if step % 2:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()"""
CLOSURE = """def closure():
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            return loss
        optimizer.step(closure)"""
SCALED = """with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()"""

PROGRAMS = {
    "SGD with momentum": ("optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)", 0, PLAIN),
    "AdamW and workers": ("optimizer = torch.optim.AdamW(model.parameters(), 1e-2)", 2, PLAIN),
    "fused Adam": ("optimizer = torch.optim.Adam(model.parameters(), 1e-2, fused=True)", 0, PLAIN),
    "accumulation and clipping": (
        "optimizer = torch.optim.Adam(model.parameters(), 1e-2, foreach=True)",
        0,
        ACCUMULATE,
    ),
    "LBFGS": ("optimizer = torch.optim.LBFGS(model.parameters(), 0.01, max_iter=3)", 0, CLOSURE),
    "a gradient scaler": (
        "optimizer = torch.optim.SGD(model.parameters(), 0.1); scaler = torch.amp.GradScaler('cpu')",
        0,
        SCALED,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_weights_state_random_numbers_and_output_are_bitwise_the_same_with(
    name: str, script: Callable, environment: dict[str, str], tmp_path: Path, sleuth_run: Callable
) -> None:
    import torch

    optimizer, workers, body = PROGRAMS[name]
    path = script(TRAINING.format(optimizer=optimizer, workers=workers, body=body))
    plain = subprocess.run(
        [sys.executable, path.name],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    without = torch.load(tmp_path / "weights.pt")
    (tmp_path / "weights.pt").unlink()
    ran = sleuth_run(path.name)
    assert ran.status == 0
    assert ran.findings == []
    assert ran.stdout == plain.stdout
    assert_same(torch.load(tmp_path / "weights.pt"), without)


def assert_same(one: object, other: object) -> None:
    import torch

    assert type(one) is type(other)
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list):
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


def test_an_error_inside_sleuth_is_said_once_and_the_program_goes_on(run_script: Callable) -> None:
    ran = run_script("""
        import torch
        import sleuth.live.sentinel
        def broken(*arguments):
            raise RuntimeError("a fault of ours")
        sleuth.live.sentinel.norm_of = broken
        model = torch.nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for step in range(5):
            loss = model(torch.ones(3, 2)).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("trained")
    """)
    assert ran.status == 0
    assert ran.stdout == "trained\n"
    assert ran.stderr.count("an error inside Sleuth") == 1
    assert "a fault of ours" in ran.stderr


def test_torch_is_imported_by_the_program_and_not_before_it(run_script: Callable) -> None:
    ran = run_script("""
        import sys
        print("torch" in sys.modules)
    """)
    assert ran.stdout == "False\n"


def test_no_tap_is_left_behind(environment: dict[str, str]) -> None:
    code = """if True:
        import torch, sleuth
        from torch.utils.data.dataloader import _BaseDataLoaderIter
        from torch.optim.optimizer import _global_optimizer_pre_hooks, _global_optimizer_post_hooks
        spots = lambda: (torch.autograd.backward, torch.nn.Module.register_buffer, torch.nn.Module.__setstate__,
                         _BaseDataLoaderIter.__next__, _BaseDataLoaderIter._next_index, torch.optim.Optimizer.__init__,
                         torch.amp.GradScaler.scale, torch.amp.GradScaler.update,
                         len(_global_optimizer_pre_hooks), len(_global_optimizer_post_hooks))
        before = spots()
        with sleuth.watch():
            assert spots() != before
        assert spots() == before
    """
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=600)


def test_the_weights_are_those_from_before_the_poisoned_update(run_script: Callable) -> None:
    ran = run_script("""
        import torch
        w = torch.nn.Parameter(torch.tensor([4.0]))
        optimizer = torch.optim.SGD([w], 1.0, momentum=0.9, weight_decay=0.1)
        try:
            for step in range(20):
                loss = torch.sqrt(w - 1).sum()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        finally:
            print(bool(torch.isfinite(w).all()), w.item())
    """)
    assert ran.only["diagnosis"] == "sqrt-of-negative"
    assert ran.stdout.startswith("True")


def test_parameters_that_trade_places_may(run_script: Callable) -> None:
    """torch refuses to swap a tensor that anyone holds a weak reference to."""
    ran = run_script("""
        import torch
        torch.__future__.set_swap_module_params_on_conversion(True)
        model = torch.nn.Linear(4, 2).to(torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for step in range(20):
            x = torch.randn(8, 4, dtype=torch.float64)
            loss = (model(x) - x[:, :2]).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.to(torch.float32)
        print(torch.utils.swap_tensors.__module__)
    """)
    assert ran.status == 0
    assert ran.stdout == "torch.utils\n"
    assert ran.findings == []
