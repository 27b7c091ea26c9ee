"""The forms that a PyTorch module can be given, and what is said where it cannot."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.comparison import compare_on
from sleuth.compare.scores import LIMIT
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Array, Batch
from sleuth.compare.variants import NAMES, compiled, variant
from sleuth.compare.variants.cast import CastSide
from sleuth.compare.variants.compiled import CompiledSide
from sleuth.compare.variants.fused import FusedSide

Seeded = Callable[[Callable[[], nn.Module]], nn.Module]


class Net(nn.Module):
    """One batch normalisation that can be folded away, and one that stands before its convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.early, self.last, self.head = nn.BatchNorm2d(6), nn.Conv2d(6, 6, 1), nn.Linear(6, 12)
        self.norm.running_mean.fill_(0.3)  # type: ignore[union-attr]
        self.norm.running_var.fill_(0.5)  # type: ignore[union-attr]

    def forward(self, x: Tensor) -> Any:
        hidden = torch.relu(self.norm(self.conv(x)))
        return self.head(self.last(self.early(hidden)).mean((2, 3)))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.memory = nn.GRU(16, 8, batch_first=True)
        self.head = nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Any:
        return self.head(self.memory(self.layer(self.words(x)))[0])


@pytest.fixture
def net(seeded: Seeded) -> nn.Module:
    return seeded(Net)


@pytest.fixture
def images() -> Batch:
    return (np.random.default_rng(0).standard_normal((4, 3, 6, 6), dtype=np.float32),)


@pytest.fixture
def words() -> Batch:
    return (np.random.default_rng(0).integers(0, 20, (3, 7)),)


@pytest.mark.parametrize(
    ("name", "precision", "size"),
    [
        ("bf16", "bfloat16", 0.5),
        ("fp16", "float16", 0.5),
        ("float64", "float64", 2.0),
        ("autocast", "autocast-bfloat16", 1.0),
        ("cpu", "float32", 1.0),
        ("channels_last", "float32", 1.0),
    ],
)
def test_a_variant_has_its_precision_its_size_and_the_same_values(
    net: nn.Module, images: Batch, name: str, precision: str, size: float
) -> None:
    side = TorchSide(net)
    made = variant(side, name, images)
    done = compare_on(side, made, images)
    assert made.precision == precision
    assert made.title == f"Net as {name if precision == 'float32' else precision}"
    assert made.size is not None
    assert side.size is not None
    assert made.size / side.size == pytest.approx(size, rel=0.05)
    assert done.same
    assert [step.node.name for step in done.steps] == done.graph.names


def test_the_model_itself_is_left_as_it_was(net: nn.Module, images: Batch) -> None:
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    side = TorchSide(net)
    for name in ("bf16", "int8", "fused", "channels_last"):
        variant(side, name, images)
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    assert all(one.dtype is torch.float32 for one in side.model.parameters())
    assert {type(module).__name__ for module in side.model.children()} == {"Conv2d", "BatchNorm2d", "Linear"}


def test_what_a_module_casts_back_itself_stays_so(images: Batch) -> None:
    class Upcast(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.log1p(x.float().abs())

    side = TorchSide(Upcast())
    made = variant(side, "bf16", images)
    captured = made.capture(images)
    name = next(value.name for value in captured.values if value.op == "log1p")
    assert isinstance(made, CastSide)
    assert np.array_equal(captured.arrays[name], captured.outputs[0])
    assert not np.array_equal(captured.outputs[0], torch.from_numpy(captured.outputs[0]).bfloat16().float().numpy())


def test_fusing_folds_what_it_can_and_tells_what_is_left(net: nn.Module, images: Batch) -> None:
    side = TorchSide(net)
    made = variant(side, "fused", images)
    done = compare_on(side, made, images)
    assert done.same
    assert made.notes == ("batch normalisations that were not fused: early",)
    pairs = {step.node.name: step.target.name for step in done.steps}
    assert pairs["batch_norm"] == "conv2d"
    assert "conv2d" not in pairs
    assert pairs["batch_norm_1"] == "batch_norm"


def test_a_fault_in_a_fused_model_is_found_behind_the_fused_layer(net: nn.Module, images: Batch) -> None:
    side = TorchSide(net)
    other = copy.deepcopy(net)
    other.get_submodule("head").bias.data.zero_()  # type: ignore[union-attr,operator]
    made = variant(TorchSide(other), "fused", images)
    assert isinstance(made, FusedSide)
    assert [one.parting.node for one in compare_on(side, made, images).troubles] == ["linear"]


def test_int8_tells_which_layers_are_quantised_and_which_are_not(net: nn.Module, images: Batch) -> None:
    made = variant(TorchSide(net), "int8", images)
    assert made.quantised == {"head"}
    assert made.left_in_float == ("conv",)
    assert [note for note in made.notes if "still floating point" in note]
    kept = made.weights()["head.weight"]
    assert np.abs(kept - net.get_submodule("head").weight.detach().numpy()).max() < np.abs(kept).max() / 100  # type: ignore[union-attr,operator]


def test_int8_of_an_encoder_and_a_recurrent_layer_is_the_same_for_its_format(seeded: Seeded, words: Batch) -> None:
    side = TorchSide(seeded(Encoder))
    before = torch.backends.mha.get_fastpath_enabled()
    made = variant(side, "int8", words)
    done = compare_on(side, made, words)
    assert done.same
    assert {"memory", "head", "layer.linear1"} <= made.quantised if made.quantised is not None else False
    assert set(made.left_in_float) == {"words", "layer.self_attn", "layer.self_attn.out_proj"}
    assert max(step.score.score for step in done.steps) < LIMIT
    assert {"linear_2", "getitem"} & {step.node.name for step in done.steps}
    assert torch.backends.mha.get_fastpath_enabled() == before


def test_a_channel_that_sets_the_step_of_all_is_told_and_is_no_difference(seeded: Seeded) -> None:
    batch = (np.random.default_rng(0).standard_normal((16, 32), dtype=np.float32),)
    model = seeded(lambda: nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 10)))
    first, last = model.get_submodule("0").weight.data, model.get_submodule("2").weight.data  # type: ignore[union-attr]
    first[3] *= 30  # type: ignore[index,operator]
    last[:, 3] /= 30  # type: ignore[index,operator]
    side = TorchSide(model)
    made = variant(side, "int8", batch)
    assert compare_on(side, made, batch).same
    (note,) = made.notes
    assert note.startswith("one channel of 0 is 29 times as large as most")


def test_a_layer_that_is_called_twice_is_told_apart(images: Batch, seeded: Seeded) -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.same, self.head = nn.Linear(6, 6), nn.Linear(6, 3)

        def forward(self, x: Tensor) -> Any:
            return self.head(self.same(torch.relu(self.same(x))))

    side = TorchSide(seeded(Twice))
    done = compare_on(side, variant(side, "int8", images), images)
    assert [step.node.name for step in done.steps] == ["linear", "linear_1", "linear_2"]
    assert done.same


def test_a_model_without_anything_to_quantise_says_so(images: Batch) -> None:
    with pytest.raises(CannotCompare, match="no linear or recurrent layer"):
        variant(TorchSide(nn.Conv2d(3, 2, 1)), "int8", images)


@pytest.mark.parametrize("name", ["int8", "fused"])
def test_an_exported_program_has_no_layers_to_change(net: nn.Module, images: Batch, name: str) -> None:
    side = ExportedSide(torch.export.export(net, tuple(map(torch.from_numpy, images))), "net.pt2")
    with pytest.raises(CannotCompare, match=r"^net\.pt2 has no layers any more: "):
        variant(side, name, images)
    assert compare_on(side, variant(side, "bf16", images), images).same


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is one")
def test_a_missing_gpu_is_one_line(net: nn.Module, images: Batch) -> None:
    with pytest.raises(CannotCompare, match=r"^there is no CUDA device here for --as cuda$"):
        variant(TorchSide(net), "cuda", images)


def test_an_operation_that_half_precision_lacks_is_one_line() -> None:
    class Inverse(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return torch.linalg.inv(x)

    with pytest.raises(CannotCompare, match="Inverse as float16 cannot be run: ") as told:
        variant(TorchSide(Inverse()), "fp16", (np.eye(3, dtype=np.float32),))
    assert "\n" not in str(told.value)


def test_an_unknown_variant_is_told_with_those_there_are(net: nn.Module, images: Batch) -> None:
    with pytest.raises(CannotCompare, match=r"no variant called int4; there are compile, bf16"):
        variant(TorchSide(net), "int4", images)
    assert {"compile", "bf16", "fp16", "int8", "onnx", "float64", "cpu", "cuda", "autocast"} <= set(NAMES)


def test_a_side_that_is_no_module_cannot_be_cast(images: Batch) -> None:
    class Other(Side):
        title = "other"

        def run(self, batch: Batch) -> list[Array]:
            return list(batch)

    with pytest.raises(CannotCompare, match="other is no PyTorch module: its bfloat16 variant cannot be made"):
        variant(Other(), "bf16", images)


def test_without_a_compiler_torch_compile_is_one_line(
    net: nn.Module, images: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor import cpp_builder, exc

    def none_found(*_: object) -> str:
        raise exc.InvalidCxxCompiler

    monkeypatch.setattr(cpp_builder, "get_cpp_compiler", none_found)
    with pytest.raises(CannotCompare, match=r"needs a C\+\+ compiler"):
        variant(TorchSide(net), "compile", images)


@pytest.fixture
def compiling() -> Iterator[None]:
    """The compiler that runs nothing new, so that a test takes no minute; afterwards it has forgotten all."""
    before = compiled.BACKEND
    compiled.BACKEND = "aot_eager"
    yield
    compiled.BACKEND = before
    torch._dynamo.reset()  # type: ignore[no-untyped-call]


@pytest.mark.usefixtures("compiling")
def test_a_compiled_model_is_asked_for_its_inner_values_only_if_it_differs(net: nn.Module, images: Batch) -> None:
    side = TorchSide(net)
    done = compare_on(side, variant(side, "compile", images), images)
    assert done.same
    assert done.steps == []
    other = copy.deepcopy(net)
    other.get_submodule("norm").eps = 1e-2  # type: ignore[assignment]
    done = compare_on(side, CompiledSide(side, other), images)
    assert [one.parting.node for one in done.troubles] == ["batch_norm"]


def test_a_model_compiled_by_inductor_is_the_same(
    images: Batch, seeded: Seeded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The compiler's own store does not know for which instruction set ATen was told to compute.
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path))
    side = TorchSide(seeded(lambda: nn.Sequential(nn.Flatten(), nn.Linear(108, 8), nn.GELU(), nn.Linear(8, 4))))
    try:
        made = variant(side, "compile", images)
        assert made.runtime.endswith("torch.compile")
        assert compare_on(side, made, images).same
        assert made.weights().keys() == side.weights().keys()
    finally:
        torch._dynamo.reset()  # type: ignore[no-untyped-call]
