"""What the causes propose for one operation: nothing that changes nothing, not too much; the specific is believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional

from sleuth import handbook
from sleuth.compare.causes import Proposal, Target, all_causes, proposals
from sleuth.compare.causes import _weights as weights
from sleuth.compare.explain import Explanation, _best
from sleuth.compare.reference import Call, as_array

MOST = 60
MINE = [
    "activation-differs",
    "batch-statistics-in-use",
    "bias-lost",
    "epsilon-differs",
    "kernel-axes-swapped",
    "kernel-flipped",
    "mean-and-variance-swapped",
    "norm-formula-differs",
    "same-padding-asymmetric",
    "scale-differs",
    "weights-stale",
    "weights-transposed",
]
aten = torch.ops.aten


def call(op: Any, **arguments: Any) -> Call:
    return Call("node", op._schema.name.partition("::")[2], op, arguments)


def target(one: Call, **options: Any) -> Target:
    return Target(as_array(one.again()), originals={"weight": as_array(one.arguments["weight"])}, **options)


def proposed(one: Call, aim: Target) -> list[tuple[str, Proposal]]:
    return [found for found in proposals(one, aim) if found[0] in MINE]


@st.composite
def convolutions(draw: Callable[..., Any]) -> Call:
    axes, groups = draw(st.integers(1, 3)), draw(st.sampled_from([1, 2]))
    channels, out = groups * draw(st.integers(1, 2)), groups * draw(st.integers(1, 2))
    kernel = [draw(st.integers(1, 3)) for _ in range(axes)]
    generator = torch.Generator().manual_seed(draw(st.integers(0, 99)))
    size = [draw(st.integers(5, 7)) for _ in range(axes)]
    weight = torch.randn(out, channels // groups, *kernel, generator=generator, dtype=torch.float64)
    return call(
        getattr(aten, f"conv{axes}d").default,
        input=torch.randn(2, channels, *size, generator=generator, dtype=torch.float64),
        weight=weight,
        bias=torch.randn(out, generator=generator, dtype=torch.float64),
        stride=[draw(st.integers(1, 2))] * axes,
        padding=[draw(st.integers(0, 1))] * axes,
        dilation=[draw(st.integers(1, 2))] * axes,
        groups=groups,
    )


@given(convolutions())
@settings(max_examples=40, deadline=None)
def test_every_proposal_for_a_convolution_changes_it(one: Call) -> None:
    plain = one.again()
    for diagnosis, proposal in proposed(one, target(one)):
        try:
            other = proposal.apply(one)
        except RuntimeError:
            continue  # padding that these sizes do not allow
        assert other.shape != plain.shape or not torch.equal(other, plain), (diagnosis, proposal.says)


@given(convolutions())
@settings(max_examples=20, deadline=None)
def test_there_are_not_too_many_proposals(one: Call) -> None:
    assert len(proposed(one, target(one))) <= 2 * MOST
    counts = {name: len([1 for found, _ in proposed(one, target(one)) if found == name]) for name in MINE}
    assert max(counts.values()) <= MOST


def linear(weight: Tensor) -> Call:
    return call(aten.linear.default, input=torch.randn(5, weight.shape[1], dtype=torch.float64), weight=weight)


def test_a_symmetric_matrix_is_not_transposed() -> None:
    matrix = torch.randn(6, 6, dtype=torch.float64)
    one = linear(matrix + matrix.T)
    assert "weights-transposed" not in dict(proposed(one, target(one)))


def test_a_symmetric_kernel_is_not_flipped() -> None:
    row = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64)
    image = torch.randn(1, 1, 5, 5, dtype=torch.float64)
    one = call(aten.conv2d.default, input=image, weight=torch.outer(row, row)[None, None])
    found = dict(proposed(one, target(one)))
    assert "kernel-flipped" not in found
    assert "kernel-axes-swapped" not in found


def test_weights_that_the_target_has_are_not_stale() -> None:
    weight = torch.randn(4, 6, dtype=torch.float64)
    one = linear(weight)
    array = as_array(weight).astype(np.float32)
    stranger = {"b": np.ones((4, 6), np.float32)}
    originals = {"w": array}
    held = Target(as_array(one.again()), "float32", {"a": array.T, **stranger}, originals)
    missing = Target(as_array(one.again()), "float32", stranger, originals)
    assert "weights-stale" not in dict(proposed(one, held))
    assert "weights-stale" in dict(proposed(one, missing))


@pytest.mark.parametrize(("op", "gates", "order"), [("lstm", 4, [0, 3, 1, 2]), ("gru", 3, [1, 0, 2])])
def test_the_gates_of_an_onnx_layer_are_found_in_their_order(op: str, gates: int, order: list[int]) -> None:
    layer = {"lstm": nn.LSTM, "gru": nn.GRU}[op](3, 2)
    originals = {name: as_array(tensor) for name, tensor in layer.state_dict().items()}

    def stacked(name: str) -> np.ndarray[Any, Any]:
        array = originals[name]
        return array.reshape(gates, 2, *array.shape[1:])[order].reshape(array.shape)[None]

    packed = {
        "W": stacked("weight_ih_l0"),
        "R": stacked("weight_hh_l0"),
        "B": np.concatenate([stacked("bias_ih_l0"), stacked("bias_hh_l0")], 1),
    }
    aim = weights.as_pytorch_keeps_gates(Target(np.zeros(1), "float32", packed, originals), op, 2)
    assert all(weights.held(tensor, aim) for tensor in layer.state_dict().values())
    stale = {**packed, "R": packed["R"] + 1}
    aim = weights.as_pytorch_keeps_gates(Target(np.zeros(1), "float32", stale, originals), op, 2)
    assert [name for name, one in layer.state_dict().items() if not weights.held(one, aim)] == ["weight_hh_l0"]


def test_a_product_of_two_activations_has_no_weight_to_transpose() -> None:
    left, right = torch.randn(2, 4, 4, dtype=torch.float64)
    one = call(aten.matmul.default, self=left, other=right)
    assert "weights-transposed" not in dict(proposed(one, Target(as_array(one.again()))))
    known = Target(as_array(one.again()), originals={"w": as_array(right)})
    assert "weights-transposed" in dict(proposed(one, known))


@pytest.mark.parametrize("op", [aten.add.Tensor, aten.mul.Tensor, aten.sub.Tensor, aten.clamp.default])
def test_arithmetic_on_whole_numbers_has_no_cause(op: Any) -> None:
    numbers = torch.arange(6)
    one = call(op, self=numbers, **({"min": 2} if op is aten.clamp.default else {"other": numbers}))
    assert proposed(one, Target(as_array(one.again()))) == []


@pytest.mark.parametrize("factor", [2.0, 1 / 255, -1.0, 0.37])
def test_a_factor_is_told_exactly(factor: float) -> None:
    one = linear(torch.randn(4, 6, dtype=torch.float64))
    aim = Target(as_array(one.again() * factor))
    [proposal] = [each for name, each in proposed(one, aim) if name == "scale-differs" and each.rank > 1]
    assert torch.allclose(proposal.apply(one), one.again() * factor, rtol=1e-5)


def test_a_handful_of_numbers_has_no_factor() -> None:
    one = call(
        aten.linear.default, input=torch.ones(1, 6, dtype=torch.float64), weight=torch.rand(1, 6, dtype=torch.float64)
    )
    assert not [each for name, each in proposed(one, Target(as_array(one.again() * 2))) if name == "scale-differs"]


def explanation(diagnosis: str, residual: float, rank: int = 0) -> Explanation:
    return Explanation(diagnosis, Proposal(diagnosis, "", Call.again, rank), "node", residual)


def test_the_more_specific_of_two_that_fit_is_believed_and_has_no_rival() -> None:
    best = _best([explanation("weights-stale", 0.9, 3), explanation("kernel-flipped", 1.1)])
    assert best is not None
    assert (best.diagnosis, best.rivals) == ("kernel-flipped", ())


def test_a_specific_one_that_fits_much_worse_is_not_believed() -> None:
    best = _best([explanation("weights-stale", 0.9, 3), explanation("epsilon-differs", 5.5)])
    assert best is not None
    assert best.diagnosis == "weights-stale"


def test_two_that_fit_as_well_are_rivals() -> None:
    best = _best([explanation("epsilon-differs", 1.0), explanation("norm-formula-differs", 1.4)])
    assert best is not None
    assert [diagnosis for diagnosis, _ in best.rivals] == ["norm-formula-differs"]


@pytest.mark.parametrize("diagnosis", MINE)
def test_a_cause_has_its_page(diagnosis: str) -> None:
    assert diagnosis in all_causes()
    assert "compare" in handbook.page(diagnosis).engines


class Residual(nn.Module):
    def __init__(self, act: Callable[[Tensor], Tensor] = torch.relu) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(8, 5)
        self.act = act

    def forward(self, image: Tensor) -> Tensor:
        return self.head(self.act(self.norm(self.conv(image))).mean((2, 3)))


@given(
    seed=st.integers(0, 999), size=st.sampled_from([1e-4, 1e-3, 1e-2]), name=st.sampled_from(["conv", "norm", "head"])
)
@settings(max_examples=8, deadline=None)
def test_random_weights_are_never_anything_but_stale(seed: int, size: float, name: str) -> None:
    from sleuth.compare.comparison import compare_on
    from sleuth.compare.sides.torch_ import TorchSide

    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(seed)
        reference, port = Residual().eval(), Residual().eval()
        port.load_state_dict(reference.state_dict())
        for weight in getattr(port, name).parameters():
            weight.add_(size * torch.randn_like(weight))
        batch = (torch.randn(2, 3, 6, 7).numpy(),)
    done = compare_on(TorchSide(reference), TorchSide(port), batch)
    named = {one.explanation.diagnosis for one in done.troubles if one.explanation is not None}
    assert named <= {"weights-stale"}
    assert done.same or done.troubles


def test_a_fault_in_every_layer_of_a_kind_is_told_of_each(told: Callable[..., list[tuple[str, str]]]) -> None:
    def network(act: Callable[[Tensor], Tensor]) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return nn.Sequential(Residual(act), nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 3)).eval()

    reference, port = network(functional.relu), network(functional.silu)
    [found] = told(reference, port, torch.randn(2, 3, 6, 7, generator=torch.Generator().manual_seed(1)))
    assert found == ("activation-differs", "it computes silu, not relu")
