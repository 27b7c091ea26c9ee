"""Whole models, exported from PyTorch in both ways and imported again."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from sleuth.compare.comparison import compare_on
from sleuth.compare.onnx_import import import_onnx
from sleuth.compare.reference import Reference, op_of
from sleuth.compare.sides.onnx_ import OnnxSide
from sleuth.compare.sides.torch_ import TorchSide


class Cnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8 * 16, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.norm(self.conv(x)))
        h = functional.max_pool2d(h, 2)
        return self.fc(h.flatten(1))


class Lstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.rnn = nn.LSTM(6, 5, 2, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(10, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.rnn(self.embedding(x))[0].mean(1))


class Gru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 6)
        self.rnn = nn.GRU(6, 5, batch_first=True)
        self.fc = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        states, last = self.rnn(self.embedding(x))
        return self.fc(states), last


class Block(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 32), nn.GELU(), nn.Linear(32, width))

    def forward(self, x: Tensor) -> Tensor:
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, t, 3, 2, d // 2).permute(2, 0, 3, 1, 4)
        a = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(a.transpose(1, 2).reshape(b, t, d))
        return x + self.mlp(x)


class Gpt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 16), nn.Embedding(8, 16)
        self.block = Block()
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 20, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        h = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        return self.head(self.norm(self.block(h)))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.GroupNorm(2, 4), nn.SiLU())
        self.second = nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.InstanceNorm2d(8, affine=True), nn.LeakyReLU(0.1))
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.out = nn.Conv2d(8, 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        a = self.first(x)
        b = self.second(functional.max_pool2d(a, 2))
        wide = functional.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(torch.cat([a, self.up(b)], 1) + wide)


class Vit(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.first = nn.Parameter(torch.randn(1, 1, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        h = self.patches(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.first.expand(h.shape[0], -1, -1), h], 1)
        return self.head(self.encoder(h)[:, 0]).softmax(-1)


class EncoderDecoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.both = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)
        self.head = nn.Linear(8, 20)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(b.shape[1])
        return self.head(self.both(self.embedding(a), self.embedding(b), tgt_mask=mask, tgt_is_causal=False))


def _image() -> tuple[Tensor, ...]:
    return (torch.linspace(-2, 2, 2 * 3 * 8 * 8).sin().reshape(2, 3, 8, 8),)


def _words(*lengths: int) -> tuple[Tensor, ...]:
    return tuple(torch.arange(2 * length).reshape(2, length) * 7 % 20 for length in lengths)


_MODELS: dict[str, tuple[type[nn.Module], tuple[Tensor, ...]]] = {
    "cnn": (Cnn, _image()),
    "lstm": (Lstm, _words(5)),
    "gru": (Gru, _words(5)),
    "gpt": (Gpt, _words(6)),
    "unet": (UNet, _image()),
    "vit": (Vit, _image()),
    "encoder-decoder": (EncoderDecoder, _words(5, 4)),
}
Seeded = Callable[[Callable[[], nn.Module]], nn.Module]


def _exported(model: nn.Module, inputs: tuple[Tensor, ...], dynamo: bool, **how: Any) -> Any:
    quiet = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
        warnings.simplefilter("ignore")
        if dynamo:
            program = torch.onnx.export(model, inputs, dynamo=True, verbose=False, **how)
            assert program is not None
            return program.model_proto
        buffer = io.BytesIO()
        torch.onnx.export(model, inputs, buffer, dynamo=False, **{"opset_version": 17, **how})
        return onnx.load_from_string(buffer.getvalue())


def _batch(inputs: tuple[Tensor, ...]) -> tuple[Any, ...]:
    return tuple(one.numpy() for one in inputs)


def _ops(graph: Any) -> list[str]:
    return [op_of(node) for node in graph.graph.nodes if node.op == "call_function"]


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
@pytest.mark.parametrize("name", _MODELS)
def test_an_exported_model_computes_in_float64_what_it_does_in_pytorch(name: str, dynamo: bool, seeded: Seeded) -> None:
    kind, inputs = _MODELS[name]
    model = seeded(kind)
    if name == "cnn":  # exporters put the batch norm into the convolution, and round
        model, inputs = model.double(), tuple(one.double() for one in inputs)
    exported = _exported(model, inputs, dynamo)
    (*results,) = Reference(import_onnx(exported, _batch(inputs))).run(_batch(inputs), torch.float64)
    with torch.no_grad():
        wanted = model.double()(*[one.double() if one.is_floating_point() else one for one in inputs])
    wanted = [wanted] if isinstance(wanted, Tensor) else wanted
    for result, expected in zip(results, wanted, strict=True):
        assert np.abs(result - expected.numpy()).max() < 1e-10


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
def test_layers_that_exporters_take_apart_are_whole_again(dynamo: bool, seeded: Seeded) -> None:
    inputs = _words(6)
    ops = _ops(import_onnx(_exported(seeded(Gpt), inputs, dynamo), _batch(inputs)))
    assert ops.count("layer_norm") == 3
    assert ops.count("linear") == 5
    assert ops.count("scaled_dot_product_attention") == 1
    assert ops.count("gelu") == 1
    assert not {"softmax", "erf", "matmul", "mul"} & set(ops)


def test_a_norm_that_an_old_version_has_to_take_apart_is_whole_again(seeded: Seeded) -> None:
    model = seeded(lambda: nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6, eps=1e-3), nn.GELU("tanh"), nn.Linear(6, 2)))
    inputs = (torch.arange(8.0).reshape(2, 4).sin(),)
    graph = import_onnx(_exported(model, inputs, False, opset_version=12), _batch(inputs))
    assert _ops(graph) == ["linear", "layer_norm", "gelu", "linear"]
    norm, gelu = [node for node in graph.graph.nodes if node.op == "call_function"][1:3]
    assert norm.args[4] == 1e-3
    assert gelu.kwargs == {"approximate": "tanh"}
    (result,) = Reference(graph).run(_batch(inputs), torch.float64)
    with torch.no_grad():
        assert np.abs(result - model.double()(inputs[0].double()).numpy()).max() < 1e-10


def test_nodes_have_the_exporters_names_and_know_their_layer_and_line(seeded: Seeded) -> None:
    inputs = _words(6)
    reference = Reference(import_onnx(_exported(seeded(Gpt), inputs, True), _batch(inputs)))
    attention = reference.value("scaled_dot_product_attention")
    assert attention.op == "scaled_dot_product_attention"
    assert attention.layer == "block"
    assert attention.place is not None
    assert attention.place.path.endswith("test_compare_onnx_import_models.py")
    assert reference.value("gelu").layer == "block.mlp.2"
    assert "block.norm.weight" in reference.weights()
    assert reference.names[0] == "x"


def test_a_torchscript_export_knows_its_layers_by_the_names_of_its_nodes(seeded: Seeded) -> None:
    inputs = _words(6)
    reference = Reference(import_onnx(_exported(seeded(Gpt), inputs, False), _batch(inputs)))
    assert {"block.norm", "block.mlp.2", "head"} <= {reference.value(name).layer for name in reference.names}


@pytest.mark.parametrize("dynamo", [True, False], ids=["dynamo", "torchscript"])
def test_free_shapes_are_settled_by_the_batch(dynamo: bool, seeded: Seeded) -> None:
    model, inputs = seeded(Gpt), _words(6)
    how: dict[str, Any] = {"dynamic_shapes": ({0: torch.export.Dim.DYNAMIC},)}
    if not dynamo:
        how = {"input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}}
    exported = _exported(model, inputs, dynamo, **how)
    for count in (1, 3):
        batch = (torch.arange(count * 6).reshape(count, 6).numpy() % 20,)
        graph = import_onnx(exported, batch)
        assert graph.meta["batch_bound"] == []
        assert not {"sym_size", "arange", "index"} & set(_ops(graph))
        (result,) = Reference(graph).run(batch, torch.float64)
        with torch.no_grad():
            assert np.abs(result - model.double()(torch.from_numpy(batch[0])).numpy()).max() < 1e-10
        model.float()


def test_an_onnx_model_is_the_reference_and_the_cause_is_named(tmp_path: Any, seeded: Seeded) -> None:
    inputs = _words(6)
    model = seeded(Gpt)
    onnx.save(_exported(model, inputs, False), str(tmp_path / "gpt.onnx"))
    same = compare_on(OnnxSide(tmp_path / "gpt.onnx"), TorchSide(model), _batch(inputs))
    assert same.same
    assert isinstance(model.norm, nn.LayerNorm)
    model.norm.eps = 1e-2
    found = compare_on(OnnxSide(tmp_path / "gpt.onnx"), TorchSide(model), _batch(inputs))
    assert not found.same
    (trouble,) = found.troubles
    assert trouble.explanation is not None
    assert trouble.explanation.diagnosis == "epsilon-differs"
    assert trouble.explanation.proposal.says == "its epsilon is 0.01, not 1e-05"
