"""What these causes must not do: explain what is not theirs, ask for much, or change what they are shown."""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.compare.causes import Target, all_causes, dropout_active, proposals
from sleuth.compare.comparison import compare_on
from sleuth.compare.reference import Call, Reference
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Batch, Captured

Told = Callable[..., list[tuple[str, str]]]
MINE = {
    *("softmax-axis-differs", "mask-differs", "attention-scale-differs", "head-order-differs", "gate-order-differs"),
    *("reset-after-differs", "recurrent-activation-differs", "flatten-order-differs", "resize-corners-differ"),
    *("pooling-edges-differ", "channels-reversed", "input-scaling-differs", "precision-lowered"),
    *("quantisation-range-clipped", "dropout-active", "operands-swapped"),
}


class Model(nn.Module):
    """A bit of everything."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.gru = nn.GRU(8, 8, batch_first=True)
        self.qkv = nn.Linear(8, 24)
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.interpolate(functional.max_pool2d(self.conv(x), 3, 2, padding=1), scale_factor=1.5)
        x, _ = self.gru(x.flatten(2).transpose(1, 2))
        q, k, v = (one.unflatten(-1, (2, 4)).transpose(1, 2) for one in self.qkv(x).chunk(3, -1))
        x = x + functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        found: Tensor = self.head(self.drop(x).mean(1))
        return found


def batch() -> Tensor:
    return torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def changed_at_random(model: nn.Module, generator: torch.Generator) -> None:
    names = [name for name, _ in model.named_parameters()]
    data = model.get_parameter(names[int(torch.randint(len(names), (), generator=generator))]).data
    kind = int(torch.randint(4, (), generator=generator))
    row = int(torch.randint(len(data), (), generator=generator))
    if kind == 0:
        data[row] *= 1 + float(torch.rand((), generator=generator))
    elif kind == 1:
        data += torch.randn(data.shape, generator=generator) * 1e-3
    elif kind == 2:
        data.copy_(data[torch.randperm(len(data), generator=generator)])
    else:
        data[row] = 0


@pytest.mark.parametrize("seed", range(8))
def test_weights_changed_at_random_are_never_explained_by_these(
    seed: int, told: Told, seeded: Callable[[Callable[[], nn.Module]], nn.Module]
) -> None:
    reference, port = seeded(Model), seeded(Model)
    changed_at_random(port, torch.Generator().manual_seed(seed))
    found = told(reference, port, batch())
    assert not {diagnosis for diagnosis, _ in found} & MINE, found


class Opaque(TorchSide):
    """A model that shows nothing but its outputs."""

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        return Captured(self.run(batch))


class Gated(nn.Module):
    def __init__(self, exchanged: bool) -> None:
        super().__init__()
        self.both, self.head = nn.Linear(6, 16), nn.Linear(8, 3)
        self.exchanged = exchanged

    def forward(self, x: Tensor) -> Tensor:
        gate, value = self.both(x).chunk(2, -1)[:: -1 if self.exchanged else 1]
        found: Tensor = self.head(torch.sigmoid(gate) * value)
        return found


def test_a_fault_inside_is_found_from_the_outputs_alone(
    seeded: Callable[[Callable[[], nn.Module]], nn.Module],
) -> None:
    reference, port = seeded(lambda: Gated(False)), seeded(lambda: Gated(True))
    inputs = (torch.randn(5, 6, generator=torch.Generator().manual_seed(1)).numpy(),)
    (trouble,) = compare_on(TorchSide(reference), Opaque(port), inputs).troubles
    assert trouble.explanation is not None
    assert (trouble.explanation.diagnosis, trouble.explanation.node) == ("operands-swapped", "chunk")


def test_a_value_that_changes_from_run_to_run_is_dropout() -> None:
    value = torch.arange(1.0, 25.0, dtype=torch.float64).reshape(4, 6)
    call = Call("drop", "dropout", torch.ops.aten.dropout.default, {"input": value, "p": 0.5, "train": False})
    noisy = value.numpy() + np.linspace(-1, 1, 24).reshape(4, 6)
    same_twice = dropout_active.propose(call, Target(noisy, again=noisy))
    another_time = list(dropout_active.propose(call, Target(noisy, again=value.numpy() * 1.3)))
    assert list(same_twice) == []
    assert [one.says for one in another_time] == ["dropout is active: two runs on the same inputs differ"]


def test_what_is_asked_for_is_bounded_and_leaves_the_call_alone(
    seeded: Callable[[Callable[[], nn.Module]], nn.Module],
) -> None:
    model, inputs = seeded(Model), (batch().numpy(),)
    reference = Reference.of(model, (batch(),))
    truth = reference.trace(inputs, torch.float64)
    counted: dict[str, int] = {}

    def listening(name: str) -> Callable[[Call], object]:
        def listen(call: Call) -> object:
            before = {key: one.clone() for key, one in call.arguments.items() if isinstance(one, Tensor)}
            asked = [one for key, one in proposals(call, Target(truth.arrays.get(name, inputs[0]))) if key in MINE]
            for proposal in asked:
                try:
                    proposal.apply(call)
                except (RuntimeError, IndexError, ValueError, TypeError):
                    continue
            assert all(torch.equal(call.arguments[key], one) for key, one in before.items())
            counted[call.op] = len(asked)
            return call.again()

        return listen

    reference.trace(inputs, torch.float64, (), {name: listening(name) for name in reference.names})
    assert set(all_causes()) >= MINE
    assert max(counted.values()) <= 60, counted
    assert {"gru", "scaled_dot_product_attention", "max_pool2d", "chunk"} <= set(counted)
