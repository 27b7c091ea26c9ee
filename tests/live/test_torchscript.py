"""TorchScript compiles under Sleuth what it compiles without it."""

from __future__ import annotations

from collections.abc import Callable

SCRIPTED = """
import torch
from torch import Tensor
from typing import Optional

@torch.jit.script
def step(w: Tensor, x: Tensor) -> Tensor:
    w = w.detach().requires_grad_(True)
    loss = (x @ w).pow(2).mean()
    gradient = torch.autograd.grad([loss], [w])[0]
    assert gradient is not None
    return w.detach() - 0.1 * gradient

@torch.jit.script
def loss_of(x: Tensor, y: Tensor) -> Tensor:
    return torch.nn.functional.cross_entropy(x, y)

print(step(torch.ones(2, 1), torch.ones(3, 2)).shape, loss_of(torch.zeros(3, 2), torch.tensor([0, 1, 1])) > 0)
"""


def test_functions_that_sleuth_listens_at_can_be_scripted(run_script: Callable) -> None:
    ran = run_script(SCRIPTED)
    assert ran.stdout == "torch.Size([2, 1]) tensor(True)\n", ran.stderr
    assert ran.status == 0
