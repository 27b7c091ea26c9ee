"""What a format costs is measured, and no more than that is forgiven."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.comparison import Comparison, compare_on
from sleuth.compare.inputs import Sample
from sleuth.compare.precision import in_format, is_full, least_error, output_noise
from sleuth.compare.quantiser import rounded_evenly, rounded_range
from sleuth.compare.reference import Reference
from sleuth.compare.scores import LIMIT, score
from sleuth.compare.session import compare_sides
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Array, Batch, Captured
from sleuth.compare.variants import variant


class Images(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
        self.second, self.head = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8 * 16, 10)
        self.norm.running_var.fill_(0.01)

    def forward(self, x: Tensor) -> Any:
        x = torch.relu(self.norm(self.first(x)))
        return self.head((x + torch.relu(self.second(x))).flatten(1))


class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.memory, self.head = (
            nn.Embedding(30, 16),
            nn.LSTM(16, 24, batch_first=True),
            nn.Linear(24, 5),
        )

    def forward(self, x: Tensor) -> Any:
        return self.head(self.memory(self.words(x))[0].mean(1))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm, self.together = nn.Embedding(30, 16), nn.LayerNorm(16), nn.Linear(16, 48)
        self.out, self.last, self.head = nn.Linear(16, 16), nn.LayerNorm(16), nn.Linear(16, 30)
        nn.init.normal_(self.words.weight, std=0.02)

    def forward(self, x: Tensor) -> Any:
        here = self.words(x)
        q, k, v = self.together(self.norm(here)).view(*x.shape, 3, 2, 8).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(self.last(here + self.out(mixed.transpose(1, 2).reshape(*x.shape, 16))))


def _batch(kind: type[nn.Module]) -> Batch:
    source = np.random.default_rng(0)
    if kind is Images:
        return (source.standard_normal((4, 3, 4, 4), dtype=np.float32),)
    return (source.integers(0, 30, (4, 9)),)


Seeded = Callable[[Callable[[], nn.Module]], nn.Module]


def _compared(model: nn.Module, other: nn.Module, name: str) -> Comparison:
    batch = _batch(type(model))
    return compare_on(TorchSide(model), variant(TorchSide(other), name, batch), batch)


def _runs_under_autocast(model: nn.Module) -> bool:
    """oneDNN has no LSTM in bfloat16 for a CPU without AVX-512."""
    try:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            model(torch.from_numpy(_batch(type(model))[0]))
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize("name", ["bf16", "fp16", "autocast", "int8"])
@pytest.mark.parametrize("kind", [Images, Sequences, Attention])
def test_a_faithful_variant_is_within_what_its_format_costs(kind: type[nn.Module], name: str, seeded: Seeded) -> None:
    model = seeded(kind)
    if name == "autocast" and not _runs_under_autocast(model):
        with pytest.raises(CannotCompare, match="as autocast-bfloat16 cannot be run: could not create a primitive"):
            _compared(model, model, name)
        return
    done = _compared(model, model, name)
    assert done.same
    assert len(done.steps) > 3
    assert max(step.score.score for step in done.steps) < LIMIT
    # The yardstick is the format's, not float32's, whose noise is below a millionth here.
    assert done.outputs[0].noise > 1e-5


def _other_epsilon(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.LayerNorm | nn.BatchNorm2d):
            module.eps = 1e-3


def _no_bias(model: nn.Module) -> None:
    model.get_submodule("head").bias.data.zero_()  # type: ignore[union-attr,operator]


@pytest.mark.parametrize(
    ("kind", "name", "fault", "diagnosis", "node"),
    [
        (Images, "bf16", _other_epsilon, "epsilon-differs", "batch_norm"),
        (Attention, "fp16", _other_epsilon, "epsilon-differs", "layer_norm"),
        (Attention, "autocast", _other_epsilon, "epsilon-differs", "layer_norm"),
        (Attention, "int8", _other_epsilon, "epsilon-differs", "layer_norm"),
        (Sequences, "bf16", _no_bias, "bias-lost", "linear"),
        (Sequences, "int8", _no_bias, "bias-lost", "linear"),
    ],
)
def test_a_fault_above_the_floor_is_found_where_it_is(
    kind: type[nn.Module], name: str, fault: Callable[[nn.Module], None], diagnosis: str, node: str, seeded: Seeded
) -> None:
    model = seeded(kind)
    faulty = copy.deepcopy(model)
    fault(faulty)
    done = _compared(model, faulty, name)
    assert not done.same
    first = done.troubles[0]
    assert first.parting.node == node
    assert first.explanation is not None
    assert first.explanation.diagnosis == diagnosis


def test_a_weight_range_that_is_clipped_before_int8_is_found_at_its_layer(seeded: Seeded) -> None:
    model = seeded(Sequences)
    clipped = copy.deepcopy(model)
    weight = clipped.get_submodule("head").weight.data  # type: ignore[union-attr]
    weight.clamp_(-0.4 * weight.abs().max(), 0.4 * weight.abs().max())  # type: ignore[operator,union-attr,arg-type]
    done = _compared(model, clipped, "int8")
    assert [one.parting.node for one in done.troubles] == ["linear"]


class Rounded(Side):
    """Another faithful implementation: float32 arithmetic, every result rounded to bfloat16."""

    title, precision = "rounded", "bfloat16"

    def __init__(self, model: nn.Module) -> None:
        self._model = copy.deepcopy(model)
        for weight in (*self._model.parameters(), *self._model.buffers()):
            if weight.is_floating_point():
                weight.data = _to_bfloat16(weight.data)

    def run(self, batch: Batch) -> list[Array]:
        return self.capture(batch).outputs

    def capture(self, batch: Batch, wanted: Any = None) -> Captured:
        graph = Reference.of(self._model, tuple(torch.from_numpy(one) for one in batch))
        rounding = dict.fromkeys(graph.names, lambda call: torch.utils._pytree.tree_map(_to_bfloat16, call.again()))
        return graph.trace(batch, torch.float32, wanted, rounding)


def _to_bfloat16(value: Any) -> Any:
    return value.bfloat16().float() if isinstance(value, Tensor) and value.is_floating_point() else value


@pytest.mark.parametrize("kind", [Images, Sequences, Attention])
def test_another_implementation_of_the_format_is_within_its_cost_too(kind: type[nn.Module], seeded: Seeded) -> None:
    model = seeded(kind)
    done = compare_on(TorchSide(model), Rounded(model), _batch(kind))
    assert 0 < done.outputs[0].score < LIMIT


def test_an_operation_that_the_format_lacks_is_rounded_instead() -> None:
    class Solve(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.linalg.inv(x @ x.mT + 4 * torch.eye(4))

    batch = (np.random.default_rng(0).standard_normal((4, 4), dtype=np.float32),)
    graph = TorchSide(Solve()).reference(batch)
    with pytest.raises(RuntimeError):
        graph.run(batch, torch.bfloat16)
    rounded = in_format(graph, batch, "bfloat16").outputs[0]
    assert np.allclose(rounded, graph.run(batch, torch.float64)[0], atol=0.1)


class Masked(nn.Module):
    """Returns its choices too; a mask as many write it; the first row is masked whole."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.query, self.head = nn.Embedding(30, 16), nn.Linear(16, 16), nn.Linear(16, 40)

    def forward(self, x: Tensor, mask: Tensor) -> Any:
        here = self.words(x)
        weights = self.query(here) @ here.mT
        weights = weights.masked_fill(mask[:, None, :], torch.finfo(weights.dtype).min).softmax(-1)
        logits = self.head(weights @ here)
        return logits, logits.argmax(-1)


@pytest.mark.parametrize("name", ["bf16", "fp16", "autocast", "int8"])
def test_masks_and_choices_cost_what_the_format_costs(name: str, seeded: Seeded) -> None:
    source = np.random.default_rng(0)
    batch = (source.integers(0, 30, (32, 9)), source.random((32, 9)) < 0.3)
    batch[1][0] = True
    side = TorchSide(seeded(Masked))
    done = compare_on(side, variant(side, name, batch), batch)
    assert [one.parted for one in done.outputs] == [False, False]
    assert len(done.steps) >= 3
    if name == "int8":  # the test would show nothing if no choice went the other way
        assert not np.array_equal(done.truth[1], done.answers[1])


def test_choices_that_are_mostly_others_are_a_difference_in_any_format() -> None:
    truth = np.arange(100) % 10
    noise = output_noise(truth, truth, "int8")
    few, many = truth.copy(), (truth + 5) % 10
    few[0] = 9
    assert not score(truth, noise, few).parted
    assert score(truth, noise, many).parted
    assert score(truth, output_noise(truth, truth, "float32"), few).parted


def test_an_overflow_in_float16_is_found_where_it_begins() -> None:
    class Large(nn.Module):
        def forward(self, x: Tensor) -> Any:
            large = torch.sin(x) * 3e5
            return large / large.abs().amax()

    batch = (np.random.default_rng(0).standard_normal((4, 4), dtype=np.float32),)
    side = TorchSide(Large())
    done = compare_on(side, variant(side, "fp16", batch), batch)
    assert [one.parting.node for one in done.troubles] == ["mul"]
    assert compare_on(side, variant(side, "bf16", batch), batch).same
    assert not compare_sides(side, variant(side, "fp16", batch), [Sample("a", batch), Sample("b", batch)]).same


def test_only_the_layers_that_are_int8_are_given_its_noise(seeded: Seeded) -> None:
    model = seeded(Sequences)
    batch = _batch(Sequences)
    graph = TorchSide(model).reference(batch)
    whole = graph.trace(batch, torch.float32)
    none = in_format(graph, batch, "int8", frozenset())
    head = in_format(graph, batch, "int8", frozenset({"head"}))
    assert np.array_equal(none.outputs[0], whole.outputs[0])
    assert np.array_equal(head.arrays["mean"], whole.arrays["mean"])
    assert not np.array_equal(head.outputs[0], whole.outputs[0])


def test_tf32_costs_ten_bits_in_products_alone(seeded: Seeded) -> None:
    model = seeded(Images)
    batch = _batch(Images)
    graph = TorchSide(model).reference(batch)
    truth, rough = graph.trace(batch, torch.float64), in_format(graph, batch, "tf32")
    error = np.abs(rough.arrays["conv2d"] - truth.arrays["conv2d"]).max() / np.abs(truth.arrays["conv2d"]).max()
    assert 2.0**-14 < error < 2.0**-9
    assert not is_full("tf32")


@pytest.mark.parametrize(
    ("precision", "full", "least"),
    [
        ("float32", True, 2.0**-23),
        ("float64", True, 2.0**-23),
        ("bfloat16", False, 2.0**-7),
        ("float16", False, 2.0**-10),
        ("autocast-bfloat16", False, 2.0**-23),
        ("int8", False, 2.0**-23),
    ],
)
def test_a_format_is_known_by_its_name(precision: str, full: bool, least: float) -> None:
    assert is_full(precision) == full
    assert least_error(precision) == least


def test_the_quantiser_keeps_zero_and_both_ends() -> None:
    values = torch.tensor([-1.0, 0.0, 0.3, 3.0])
    rounded = rounded_range(values)
    assert rounded[1] == 0
    assert torch.allclose(rounded, values, atol=4.0 / 255 / 2 + 1e-6)
    assert not torch.equal(rounded, values)


def test_the_quantiser_rounds_weights_to_127_steps_on_either_side() -> None:
    weight = torch.tensor([[127.0, -126.6], [0.4, 0.6]])
    assert rounded_evenly(weight).tolist() == [[127.0, -127.0], [0.0, 1.0]]
    assert rounded_evenly(torch.zeros(2, 2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]
