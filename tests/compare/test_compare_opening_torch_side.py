"""A PyTorch module as a side: called in all its ways, and the user's own left as it was."""

from __future__ import annotations

import threading
from collections import namedtuple
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.torch_ import TorchSide

Pair = namedtuple("Pair", "left right")


class Nested(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(4, 4)
        self.two = nn.Linear(4, 4)

    def forward(
        self, batch: dict[str, Tensor], scale: float, *, pair: tuple[Tensor, Tensor], flag: bool = False
    ) -> Any:
        left = self.one(batch["x"]) * scale
        right = self.two(pair[0] - pair[1]) if flag else left
        return {"sum": left + right, "parts": Pair(left, [right, None]), "note": "text"}


def nested(batch_size: int = 2) -> tuple[TorchSide, Any]:
    torch.manual_seed(0)
    x, a, b = torch.randn(3, batch_size, 4)
    side = TorchSide(Nested())
    return side, side.learn_inputs(({"x": x}, 2.0), {"pair": (a, b), "flag": True})


@pytest.fixture(autouse=True)
def _randomness_left_alone() -> Any:
    with torch.random.fork_rng():
        yield


def test_nested_arguments_are_taken_apart_and_constants_kept() -> None:
    side, batch = nested()
    assert [one.name for one in side.inputs] == ["batch_x", "pair_0", "pair_1"]
    outputs = side.run(batch)
    assert side.output_names == ("sum", "parts.left", "parts.right.0")
    expected = side.model({"x": torch.tensor(batch[0])}, 2.0, pair=tuple(map(torch.tensor, batch[1:])), flag=True)
    assert torch.equal(torch.tensor(outputs[0]), expected["sum"])


def test_the_graph_of_nested_arguments_computes_the_same() -> None:
    side, batch = nested()
    graph = side.reference(batch)
    for ours, own in zip(graph.run(batch, torch.float32), side.run(batch), strict=True):
        assert abs(ours - own).max() < 1e-6
    assert {graph.value(name).layer for name in graph.names if graph.value(name).op == "linear"} == {"one", "two"}


def test_each_shape_has_a_graph_of_its_own() -> None:
    class Built(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.arange(x.shape[1]).float().expand(x.shape[0], -1)

    side = TorchSide(Built())
    for rows, length in ((2, 3), (5, 7)):
        batch = (torch.zeros(rows, length).numpy(),)
        assert side.reference(batch).run(batch, torch.float64)[0].shape == (rows, length)


def test_keywords_reach_the_arguments_of_their_names() -> None:
    class Keywords(nn.Module):
        def forward(self, a: Tensor, b: Tensor | None = None, c: Tensor | None = None) -> Tensor:
            assert c is not None
            return a - 2 * c

    side = TorchSide(Keywords())
    batch = side.learn_inputs((), {"c": torch.ones(2), "a": torch.zeros(2)})
    assert side.run(batch)[0].tolist() == [-2.0, -2.0]
    assert side.reference(batch).run(batch, torch.float64)[0].tolist() == [-2.0, -2.0]


def test_a_module_in_training_is_compared_in_evaluation_and_left_in_training() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)).train()
    before = {name: one.clone() for name, one in model.state_dict().items()}
    side = TorchSide(model)
    batch = (torch.randn(8, 4).numpy(),)
    first, second = side.run(batch)[0], side.run(batch)[0]
    side.reference(batch)
    assert (first == second).all()
    assert all(module.training for module in model.modules())
    assert all(torch.equal(one, before[name]) for name, one in model.state_dict().items())


def test_changes_to_the_users_module_do_not_reach_the_side() -> None:
    model = nn.Linear(4, 4)
    side = TorchSide(model)
    with torch.no_grad():
        model.weight.zero_()
    assert side.weights()["weight"].any()


def test_the_global_generator_is_left_as_it_was() -> None:
    class Noisy(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x + torch.randn_like(x)

    before = torch.get_rng_state()
    TorchSide(Noisy()).run((torch.zeros(3).numpy(),))
    assert torch.equal(before, torch.get_rng_state())


def test_what_cannot_be_copied_is_copied_as_far_as_it_can_be() -> None:
    model = nn.Sequential(nn.Linear(4, 4))
    model.lock = threading.Lock()  # type: ignore[assignment]
    model.last = model(torch.randn(2, 4))  # type: ignore[assignment]
    side = TorchSide(model)
    assert side.model is not model
    assert side.model.last.grad_fn is None  # type: ignore[union-attr]
    assert side.run((torch.zeros(1, 4).numpy(),))[0].shape == (1, 4)


def test_what_refuses_to_be_copied_is_borrowed_and_given_back() -> None:
    class Single(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(4)
            self.calls: Tensor
            self.register_buffer("calls", torch.zeros(()))

        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("there is only one")

        def forward(self, x: Tensor) -> Any:
            self.calls += 1
            return self.norm(x)

    model = Single().train()
    side = TorchSide(model)
    batch = (torch.randn(8, 4).numpy(),)
    assert abs(side.run(batch)[0] - batch[0]).max() < 1e-4  # in evaluation, the fresh norm changes nothing
    assert model.training
    assert model.norm.training
    assert not model.calls
    assert not model.norm.num_batches_tracked


def test_a_half_precision_module_takes_its_inputs_so() -> None:
    side = TorchSide(nn.Linear(4, 2).to(torch.bfloat16))
    assert side.precision == "bfloat16"
    assert side.run((torch.zeros(3, 4).numpy(),))[0].dtype.name == "float32"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (nn.LazyLinear(3), "it has layers that get their size from their first input (weight): run it once"),
        (nn.Linear(2, 2, device="meta"), "it has no numbers in it: it was made on the meta device"),
    ],
)
def test_a_module_without_numbers_is_one_line(model: nn.Module, line: str) -> None:
    with pytest.raises(CannotCompare) as caught:
        TorchSide(model, title="it")
    assert str(caught.value) == line


def test_a_module_that_gives_no_tensor_is_one_line() -> None:
    class Speaks(nn.Module):
        def forward(self, x: Tensor) -> str:
            return "hello"

    with pytest.raises(CannotCompare, match="Speaks gives no tensor back, but str"):
        TorchSide(Speaks()).run((torch.zeros(1).numpy(),))


def test_wrappers_of_parallel_training_are_looked_through() -> None:
    assert isinstance(TorchSide(nn.DataParallel(nn.Linear(2, 2))).model, nn.Linear)
