"""A module exported to ONNX and quantised there: what comes out, why it cannot be, and the tools' own defects."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from sleuth.compare.comparison import compare_on
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.variants import variant
from sleuth.compare.variants.onnx_export import exported


class Remembering(nn.Module):
    """Its recurrent weights are too large for the exporter to fold, so it slices them in the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50, 64)
        self.memory = nn.LSTM(64, 128, batch_first=True)
        self.head = nn.Linear(128, 5)

    def forward(self, x):
        every, _ = self.memory(self.tokens(x))
        return self.head(every.mean(1))


class Tied(nn.Module):
    """Two layers that begin with the same weights, as the copies of a layer do."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(16, 16)
        self.second = nn.Linear(16, 16)
        self.second.load_state_dict(self.first.state_dict())

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def side_of(model: type[nn.Module]) -> TorchSide:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return TorchSide(model())


@pytest.fixture(scope="module")
def remembering():
    return side_of(Remembering), (torch.arange(28).reshape(4, 7).numpy(),)


@pytest.fixture(scope="module")
def remembering_int8(remembering):
    made = variant(remembering[0], "onnx-int8", remembering[1])
    yield made
    made.close()


def test_quantisation_that_fails_on_the_exporters_shapes_is_done_without_them_and_said(remembering_int8):
    assert len(remembering_int8.notes) == 1
    assert "ShapeInferenceError" in remembering_int8.notes[0]
    assert "del model.graph.value_info[:]" in remembering_int8.notes[0]


def test_a_recurrent_layer_that_is_silently_not_quantised_is_told(remembering_int8):
    assert remembering_int8.precision == "int8"
    assert remembering_int8.left_in_float == ("memory",)
    assert remembering_int8.quantised == {"tokens", "head"}
    [layer] = remembering_int8.float_layers()
    assert layer.operator == "LSTM"
    assert layer.bytes > 0.9 * remembering_int8.size


def test_the_quantised_model_is_the_same_within_its_format(remembering, remembering_int8):
    done = compare_on(remembering[0], remembering_int8, remembering[1])
    assert done.same
    assert {"getitem", "mean", "linear"} <= {step.node.name for step in done.steps if step.how == "name"}


def test_a_weight_that_two_layers_share_is_transposed_twice_by_the_quantiser():
    side, batch = side_of(Tied), (torch.linspace(-2, 2, 64).reshape(4, 16).numpy(),)
    made = variant(side, "onnx-int8", batch)
    done = compare_on(side, made, batch)
    made.close()
    assert not done.same
    assert done.troubles[0].parting.node == "linear"
    assert "transposed the weight first.weight once for each of the 2 layers that share it" in made.notes[-1]


class Shared(nn.Module):
    """One layer that is called twice; its weight is not square."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(16, 8)

    def forward(self, x):
        return self.layer(x) + torch.relu(self.layer(x * 2))


def test_a_shared_weight_that_the_quantiser_fails_on_is_copied_and_said():
    side, batch = side_of(Shared), (torch.linspace(-2, 2, 64).reshape(4, 16).numpy(),)
    made = variant(side, "onnx-int8", batch)
    done = compare_on(side, made, batch)
    made.close()
    assert done.same
    assert "every layer has its own copy of a weight that it shared" in made.notes[0]


def test_the_file_goes_with_the_side():
    side, batch = side_of(Tied), (torch.zeros(4, 16).numpy(),)
    made = exported(side, batch)
    assert made.path.exists()
    assert made.size > 16 * 16 * 4
    made.close()
    assert not made.path.parent.exists()


def test_the_exporter_is_silent_and_leaves_things_as_they_were(tmp_path):
    code = (
        "import torch, sys\nfrom torch import nn\nfrom sleuth.compare.sides.torch_ import TorchSide\n"
        "from sleuth.compare.variants.onnx_export import exported\n"
        "before = torch.random.get_rng_state()\nside = TorchSide(nn.Sequential(nn.Linear(4, 4), nn.Dropout()))\n"
        "model = side.model.state_dict()['0.weight'].clone()\nstate = torch.random.get_rng_state()\n"
        "exported(side, (torch.zeros(2, 4).numpy(),)).close()\n"
        "assert torch.equal(state, torch.random.get_rng_state())\n"
        "assert torch.equal(model, side.model.state_dict()['0.weight'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(tmp_path.iterdir())


class Deciding(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


class Unheard(nn.Module):
    def forward(self, x):
        return torch.special.bessel_j0(x)


class Broken(nn.Module):
    def forward(self, x):
        raise ValueError("my own trouble")


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(Path(__file__).read_text().splitlines(), 1) if text in line)


@pytest.mark.parametrize(
    ("model", "reason", "line"),
    [
        (Deciding, "Could not guard on data-dependent expression", "if x.sum() > 0"),
        (Unheard, "ONNX has nothing for prims.bessel_j0", "return torch.special.bessel_j0(x)"),
        (Broken, "my own trouble", 'raise ValueError("my own trouble")'),
    ],
)
def test_a_failed_export_is_one_line_with_the_place(model, reason, line):
    with pytest.raises(CannotCompare) as problem:
        exported(side_of(model), (torch.ones(3, 3).numpy(),))
    said = str(problem.value)
    assert "\n" not in said
    assert said.startswith(f"{model.__name__} cannot be exported to ONNX: {reason}")
    assert said.endswith(f"test_compare_onnx_variants.py:{line_of(line)})")


class Elsewhere(Side):
    title = "model.keras"

    def run(self, batch):
        return []


def test_what_is_no_pytorch_module_cannot_be_exported():
    with pytest.raises(CannotCompare, match=r"model\.keras is no PyTorch module"):
        exported(Elsewhere(), ())
