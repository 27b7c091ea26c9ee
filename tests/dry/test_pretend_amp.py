"""Mixed precision: the dtypes that a card's autocast gives, and steps that a scaler makes."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from pretending import performed, raised
from torch import nn

HALF, BFLOAT, FLOAT = torch.float16, torch.bfloat16, torch.float32


def card(*shape: int, dtype: torch.dtype = FLOAT) -> torch.Tensor:
    return torch.randn(*shape, device="cuda").to(dtype)


@pytest.mark.parametrize("low", [HALF, BFLOAT])
def test_autocast_gives_the_types_of_the_card(low: torch.dtype) -> None:
    def act() -> None:
        with torch.autocast("cuda", dtype=low):
            x = nn.Linear(4, 4).cuda()(card(5, 4))
            assert x.dtype == low
            assert (x @ x.T).dtype == low
            assert nn.Conv2d(3, 4, 3).cuda()(card(1, 3, 8, 8)).dtype == low
            assert torch.einsum("ij,kj->ik", card(2, 3), card(2, 3)).dtype == low
            assert nn.LayerNorm(4).cuda()(x).dtype == FLOAT
            assert x.softmax(-1).dtype == FLOAT
            assert x.exp().dtype == FLOAT
            assert (x**2).dtype == FLOAT
            assert x.sum().dtype == FLOAT
            assert F.mse_loss(x, x).dtype == FLOAT
            assert F.cross_entropy(x, torch.zeros(5, dtype=torch.long, device="cuda")).dtype == FLOAT
            assert x.relu().dtype == low
            assert (x + card(5, 4)).dtype == FLOAT
            assert torch.dot(card(3), card(3, dtype=low)).dtype == FLOAT
            assert (
                torch.scatter_add(card(3), 0, torch.zeros(2, dtype=torch.long, device="cuda"), x[0, :2]).dtype == FLOAT
            )
            output, (hidden, cell) = nn.LSTM(4, 6).cuda()(card(3, 2, 4))
            assert output.dtype == hidden.dtype == cell.dtype == low
        assert nn.Linear(4, 4).cuda()(card(5, 4)).dtype == FLOAT

    performed(act)


def test_autocast_of_one_device_leaves_the_other_alone() -> None:
    def act() -> None:
        with torch.autocast("cuda"):
            assert (torch.randn(2, 2) @ torch.randn(2, 2)).dtype == FLOAT
            with torch.autocast("cuda", enabled=False):
                assert (card(2, 2) @ card(2, 2)).dtype == FLOAT
        with torch.autocast("cpu"):
            assert (card(2, 2) @ card(2, 2)).dtype == FLOAT
            assert (torch.randn(2, 2) @ torch.randn(2, 2)).dtype == BFLOAT

    performed(act)


def test_a_scaler_steps() -> None:
    def act() -> None:
        model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        scaler = torch.amp.GradScaler("cuda")
        assert scaler.is_enabled()
        before = model[0].weight.detach().clone()
        for _ in range(2):
            with torch.autocast("cuda", dtype=HALF):
                loss = F.cross_entropy(model(card(5, 4)), torch.zeros(5, dtype=torch.long, device="cuda"))
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        assert not torch.equal(before, model[0].weight)

    performed(act)


def test_gradients_in_half_precision_are_not_unscaled() -> None:
    def act() -> None:
        model = nn.Linear(3, 2).cuda().half()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cuda")
        scaler.scale(model(card(2, 3, dtype=HALF)).float().sum()).backward()
        scaler.step(optimizer)

    error = raised(act)
    assert type(error) is ValueError
    assert str(error) == "Attempting to unscale FP16 gradients."


def test_kernels_that_only_a_card_has_for_half_precision_work() -> None:
    def act() -> None:
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        model = nn.Sequential(model, nn.Linear(36, 5)).cuda().half()
        loss = F.cross_entropy(model(card(2, 3, 8, 8, dtype=HALF)), torch.tensor([1, 2], device="cuda"))
        assert loss.dtype == HALF
        loss.backward()
        eigenvalues = torch.cdist(card(3, 2, dtype=HALF), card(3, 2, dtype=HALF))
        assert eigenvalues.dtype == HALF

    performed(act)


def test_a_function_of_ones_own_can_choose_its_precision() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="cuda", cast_inputs=FLOAT)
        def forward(context: object, x: torch.Tensor) -> torch.Tensor:
            assert x.dtype == FLOAT
            return x * 2

        @staticmethod
        @torch.amp.custom_bwd(device_type="cuda")
        def backward(context: object, gradient: torch.Tensor) -> torch.Tensor:
            return gradient * 2

    def act() -> None:
        x = card(3, dtype=HALF).requires_grad_()
        with torch.autocast("cuda"):
            Double.apply(x).sum().backward()

    performed(act)
