"""The middle of a comparison: the truth and its noise, values paired, the first parting, a cause believed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from sleuth.compare.align import arranged, arrangements
from sleuth.compare.comparison import Comparison, compare_on
from sleuth.compare.reference import Call, Reference
from sleuth.compare.scores import EPS, LIMIT, Noise, score
from sleuth.compare.shelf import Shelf
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.tell import findings
from sleuth.compare.values import Batch, Captured, Value


class Block(nn.Module):
    """Every kind of thing a small network does: a convolution, a norm, a shortcut, attention, an LSTM."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.lstm = nn.LSTM(8, 6, batch_first=True)
        self.ln = nn.LayerNorm(6)
        self.head = nn.Linear(6, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.norm(self.conv(x)))
        h = (h + 0.5 * h.flip(-1)).mean(-1).transpose(1, 2)
        h, _ = self.lstm(h)
        h = functional.scaled_dot_product_attention(h, h, h) + h
        return self.head(functional.gelu(self.ln(h)))


def block(seed: int = 0) -> Block:
    torch.manual_seed(seed)
    return Block().eval()


def batch(seed: int = 1) -> Batch:
    return (np.random.default_rng(seed).standard_normal((4, 3, 7, 9)).astype(np.float32),)


class Changed(Side):
    """The reference's own float32 run, with one node's value changed by a function and names and layouts lost."""

    def __init__(self, model: nn.Module, node: str = "", change: Any = None, named: bool = False) -> None:
        self._inner = TorchSide(model)
        self.title, self.runtime, self._node, self._change, self._named = "changed", "test", node, change, named

    def run(self, batch: Batch) -> list[Any]:
        return self.capture(batch).outputs

    def capture(self, batch: Batch, wanted: Any = None) -> Captured:
        graph = self._inner.reference(batch)
        overrides = {self._node: lambda call: self._change(call.again())} if self._node else {}
        done = graph.trace(batch, torch.float32, None, overrides)
        values, arrays = [], {}
        for number, value in enumerate(done.values):
            array = done.arrays[value.name]
            if value.op == "input":
                continue
            name = value.name if self._named else f"v{number}"
            arrays[name] = array if self._named else array.transpose(tuple(reversed(range(array.ndim))))
            values.append(Value(name, value.op, partner=value.name if self._named else ""))
        return Captured(done.outputs, values, arrays)


def nodes_of(model: nn.Module) -> list[str]:
    graph = TorchSide(model).reference(batch())
    used = {name for name in graph.names if graph.users(name) or name == graph.outputs[0].name}
    return [name for name in graph.names if name in used and graph.value(name).op not in ("input", "lstm", "zeros")]


def test_the_truth_is_what_the_model_computes_in_float64() -> None:
    model = block()
    [truth] = TorchSide(model).reference(batch()).run(batch(), torch.float64)
    with torch.no_grad():
        expected = model.double()(torch.from_numpy(batch()[0]).double())
    np.testing.assert_allclose(truth, expected.numpy(), rtol=0, atol=1e-14)


def test_a_value_knows_its_layer_and_its_line() -> None:
    value = TorchSide(block()).reference(batch()).value("conv2d")
    assert (value.op, value.layer) == ("conv2d", "conv")
    assert value.place is not None
    assert "self.norm(self.conv(x))" in Path(__file__).read_text().splitlines()[value.place.line - 1]


def test_a_replay_from_known_values_gives_what_the_whole_run_gives() -> None:
    graph = TorchSide(block()).reference(batch())
    whole = graph.trace(batch(), torch.float64)
    known = {name: torch.from_numpy(whole.arrays[name]) for name in graph.parents("layer_norm")}
    again = graph.replay(known, "linear")
    np.testing.assert_array_equal(again.numpy(), whole.arrays["linear"])


def test_an_override_is_computed_instead_and_carries_on() -> None:
    graph = TorchSide(block()).reference(batch())
    bias_free = graph.run(batch(), torch.float64, {"linear": lambda call: call.again(bias=None)})[0]
    plain = graph.run(batch(), torch.float64)[0]
    bias = graph.weight("head.bias", torch.float64).numpy()
    np.testing.assert_allclose(bias_free + bias, plain, atol=1e-12)


class InPlace(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        y.add_(1)
        z = y.relu_()
        return y + z


def test_operations_in_place_are_followed() -> None:
    x = batch()
    [truth] = TorchSide(InPlace()).reference(x).run(x, torch.float64)
    np.testing.assert_allclose(truth, 2 * np.maximum(2 * x[0].astype(np.float64) + 1, 0), atol=1e-12)


class Branches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 1e9:
            return x * 2
        return torch.tanh(x) * 3


def test_a_model_whose_course_depends_on_its_numbers_is_taken_as_it_ran() -> None:
    x = batch()
    [truth] = TorchSide(Branches()).reference(x).run(x, torch.float64)
    np.testing.assert_allclose(truth, 3 * np.tanh(x[0].astype(np.float64)), atol=1e-12)


class Refuses(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        raise ValueError("four channels, please")


def test_a_model_that_cannot_take_the_inputs_is_refused_in_one_line() -> None:
    with pytest.raises(CannotCompare, match="four channels, please") as refused:
        TorchSide(Refuses()).reference(batch())
    assert "\n" not in str(refused.value)


@settings(max_examples=50, deadline=None)
@given(st.floats(1e-6, 1e6), st.integers(0, 99))
def test_a_score_does_not_depend_on_the_units(factor: float, seed: int) -> None:
    draw = np.random.default_rng(seed)
    truth = draw.standard_normal(64)
    single, target = (truth * (1 + EPS * draw.standard_normal(64)) for _ in range(2))
    plain = score(truth, Noise.of(truth, single), target)
    scaled = score(truth * factor, Noise.of(truth * factor, single * factor), target * factor)
    assert scaled.score == pytest.approx(plain.score, rel=1e-6)
    assert plain.score < LIMIT


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_where_the_truth_is_has_parted(bad: float) -> None:
    truth = np.ones(16)
    target = truth.copy()
    target[3] = bad
    assert score(truth, Noise.of(truth, truth), target).parted
    assert not score(target, Noise.of(target, target), target).parted


def test_one_wrong_number_among_many_is_seen() -> None:
    truth = np.random.default_rng(0).standard_normal(100_000)
    single = truth.astype(np.float32)
    target = single.copy()
    target[7] += 1e-4
    assert score(truth, Noise.of(truth, single), target).parted


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_every_order_of_the_axes_is_among_the_arrangements(shape: list[int], data: st.DataObject) -> None:
    array = np.arange(np.prod(shape)).reshape(shape)
    order = data.draw(st.permutations(range(len(shape))))
    moved = array.transpose(order)
    back = [arranged(moved, axes, array.shape) for axes in arrangements(moved.shape, array.shape)]
    assert any(np.array_equal(one, array) for one in back)


def test_a_shelf_gives_back_what_was_put_on_it_from_memory_or_disk() -> None:
    shelf = Shelf(budget=1000)
    arrays = {f"a{n}": np.random.default_rng(n).standard_normal((n + 1, 10)).astype(np.float32) for n in range(12)}
    for name, array in arrays.items():
        shelf[name] = array
    assert any(isinstance(shelf[name], np.memmap) for name in arrays)
    assert all(np.array_equal(shelf[name], array) for name, array in arrays.items())
    assert list(shelf) == list(arrays)


def test_a_model_is_the_same_as_itself() -> None:
    done = compare_on(TorchSide(block()), Changed(block()), batch())
    assert done.same
    assert findings(done) == []
    assert len(done.steps) > 8
    assert not any(step.score.parted for step in done.steps)


def first_of(done: Comparison) -> set[str]:
    return {name for trouble in done.troubles for name in trouble.parting.region}


@pytest.mark.parametrize("named", [True, False], ids=["named", "by their numbers"])
@pytest.mark.parametrize("node", nodes_of(block()))
def test_a_change_at_a_node_is_found_at_that_node(node: str, named: bool) -> None:
    noise = torch.Generator().manual_seed(0)

    def change(value: Tensor) -> Tensor:
        return value + 1e-3 * value.std() * torch.randn(value.shape, generator=noise)

    done = compare_on(TorchSide(block()), Changed(block(), node, change, named), batch())
    assert not done.same
    assert node in first_of(done)
    assert done.troubles[0].explanation is None
    [finding] = findings(done)
    assert finding.diagnosis == "models-part"


def test_near_the_noise_a_set_of_places_is_named() -> None:
    def change(value: Tensor) -> Tensor:
        return value * (1 + 8 * EPS)

    done = compare_on(TorchSide(block()), Changed(block(), "relu", change, named=True), batch())
    if not done.same:
        [trouble] = done.troubles
        assert {"relu"} <= {trouble.parting.node, *trouble.parting.others}
        assert findings(done)[0].certainty == "likely"


class Normed(nn.Module):
    def __init__(self, depth: int = 14, eps: float = 1e-5, approximate: str = "none") -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(16, eps=eps) for _ in range(depth))
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(depth))
        self.approximate = approximate

    def forward(self, x: Tensor) -> Tensor:
        for norm, layer in zip(self.norms, self.layers, strict=True):
            x = x + functional.gelu(layer(norm(x)), approximate=self.approximate)
        return x


def test_the_same_fault_in_every_layer_is_one_finding_that_names_them() -> None:
    torch.manual_seed(0)
    reference, port = Normed().eval(), Normed(eps=1e-3).eval()
    port.load_state_dict(reference.state_dict())
    x = (np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32),)
    [finding] = findings(compare_on(TorchSide(reference), TorchSide(port, title="port"), x))
    assert finding.diagnosis == "epsilon-differs"
    assert "0.001, not 1e-05" in finding.title
    assert finding.certainty == "certain"
    assert any("norms.4" in link.what for link in finding.chain)


def test_two_faults_in_every_layer_are_two_findings() -> None:
    torch.manual_seed(0)
    reference, port = Normed().eval(), Normed(eps=1e-3, approximate="tanh").eval()
    port.load_state_dict(reference.state_dict())
    x = (np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32),)
    found = findings(compare_on(TorchSide(reference), TorchSide(port), x))
    assert {finding.diagnosis for finding in found} == {"epsilon-differs", "activation-differs"}


def test_the_users_model_is_left_as_it_was() -> None:
    model = block().train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    compare_on(TorchSide(model), TorchSide(model), batch())
    assert model.training
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_a_call_can_be_computed_again_with_other_arguments() -> None:
    call = Call(
        "relu", "leaky_relu", torch.ops.aten.leaky_relu.default, {"self": torch.tensor([-1.0]), "negative_slope": 0.5}
    )
    assert call.again().item() == -0.5
    assert call.again(negative_slope=0.25).item() == -0.25


def test_a_reference_of_an_exported_program_has_its_nodes() -> None:
    program = torch.export.export(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (torch.ones(1, 3),))
    graph = Reference.of_exported(program)
    assert [graph.value(name).op for name in graph.names] == ["input", "linear", "relu"]


def test_where_no_value_in_between_could_be_compared_no_line_is_named() -> None:
    """Two networks of other widths have nothing in common but their outputs."""
    torch.manual_seed(0)
    one = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 9), nn.Tanh(), nn.Linear(9, 3))
    other = nn.Sequential(nn.Linear(6, 16), nn.Sigmoid(), nn.Linear(16, 5), nn.Softplus(), nn.Linear(5, 3))
    inputs = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    [finding] = findings(compare_on(TorchSide(one), TorchSide(other), (inputs,)))
    assert finding.diagnosis == "models-part"
    assert "somewhere between 0 (linear) and 4 (linear)" in finding.title
    assert finding.place is None
    assert finding.certainty == "likely"
    assert any(link.what == "0 (linear) is the first that it may be" for link in finding.chain)
