"""Gradient scalers: a skipped step is their job, a collapsed scale is not."""

from __future__ import annotations

from collections.abc import Callable

LOOP = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.01)
scaler = torch.amp.GradScaler("cpu", init_scale={scale})
for step in range(60):
    x = torch.randn(8, 4)
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(x)
    loss = {loss}
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
print("scale", scaler.get_scale())
"""


def test_a_scaler_that_finds_its_scale_by_skipping_is_healthy(run_script: Callable) -> None:
    ran = run_script(LOOP.format(scale="2.0**30", loss="(out ** 2).mean()"))
    assert ran.status == 0
    assert ran.findings == []
    assert "scale" in ran.stdout


def test_one_bad_batch_that_the_scaler_skips_is_healthy(run_script: Callable) -> None:
    ran = run_script(LOOP.format(scale="128.0", loss="(out.float() ** 2).mean() / (0.0 if step == 7 else 1.0)"))
    assert ran.findings == []


def test_gradients_that_overflow_at_every_scale_are_a_collapse(run_script: Callable) -> None:
    ran = run_script(LOOP.format(scale="64.0", loss="(torch.sqrt((out.float() * 0).abs()) + out.float() ** 2).mean()"))
    assert ran.only["diagnosis"] == "grad-scaler-collapse"
    assert ran.only["place"]["line"] == 10
    assert ran.evidence("operation") == "sqrt"


def test_a_loss_that_is_nan_at_every_step_is_named_by_its_origin(run_script: Callable) -> None:
    ran = run_script(LOOP.format(scale="64.0", loss="torch.log(-out.float().abs()).mean()"))
    assert ran.only["diagnosis"] == "log-of-negative"
    assert ran.only["place"]["line"] == 10
