"""Files that PyTorch writes: exported programs and TorchScript, on either side."""

from __future__ import annotations

import copy
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from sleuth.compare.comparison import compare_on
from sleuth.compare.opening import open_side
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torchscript import TorchScriptSide
from sleuth.compare.values import Batch

Seeded = Callable[[Callable[[], nn.Module]], nn.Module]
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning"),
]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.Linear(6, 5)

    def forward(self, x: Tensor) -> Any:
        hidden = torch.relu(self.norm(self.conv(x)))
        return self.head(hidden.mean((2, 3)))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.memory, self.head = (
            nn.Embedding(20, 8),
            nn.LSTM(8, 12, batch_first=True),
            nn.Linear(12, 5),
        )

    def forward(self, x: Tensor) -> Any:
        return self.head(self.memory(self.words(x))[0].mean(1))


@pytest.fixture
def net(seeded: Seeded) -> nn.Module:
    return seeded(Net)


@pytest.fixture
def batch() -> Batch:
    return (np.random.default_rng(0).standard_normal((4, 3, 6, 6), dtype=np.float32),)


def _exported(model: nn.Module, batch: Batch, path: Path, **more: Any) -> Path:
    program = torch.export.export(model, tuple(map(torch.from_numpy, batch)), **more)
    torch.export.save(program, path)
    return path


def _scripted(model: nn.Module, batch: Batch, path: Path) -> Path:
    torch.jit.trace(model, tuple(map(torch.from_numpy, batch))).save(str(path))  # type: ignore[no-untyped-call]
    return path


def test_an_exported_program_is_the_same_model_on_either_side(net: nn.Module, batch: Batch, tmp_path: Path) -> None:
    path = _exported(net, batch, tmp_path / "net.pt2")
    program = open_side(str(path))
    assert isinstance(program, ExportedSide)
    assert program.size == path.stat().st_size
    assert compare_on(TorchSide(net), program, batch).same
    done = compare_on(program, TorchSide(net), batch)
    assert done.same
    assert len(done.steps) == len(done.graph.names)


def test_an_exported_program_knows_its_inputs_and_which_dimensions_are_free(
    net: nn.Module, batch: Batch, tmp_path: Path
) -> None:
    free = torch.export.Dim("batch")
    side = ExportedSide(_exported(net, batch, tmp_path / "net.pt2", dynamic_shapes={"x": {0: free}}))
    assert [(one.name, one.shape, one.dtype) for one in side.inputs] == [("x", (None, 3, 6, 6), "float32")]


def test_an_exported_program_takes_nested_arguments_as_it_was_exported() -> None:
    class Sum(nn.Module):
        def forward(self, pair: tuple[Tensor, Tensor], *, scale: Tensor) -> Any:
            return pair[0] * scale - pair[1]

    one, two, three = torch.ones(2), torch.full((2,), 2.0), torch.full((2,), 3.0)
    side = ExportedSide(torch.export.export(Sum(), ((one, two),), {"scale": three}))
    assert side.run((one.numpy(), two.numpy(), three.numpy()))[0].tolist() == [1.0, 1.0]


def test_a_fault_in_an_exported_program_is_placed_in_the_source(net: nn.Module, batch: Batch, tmp_path: Path) -> None:
    other = copy.deepcopy(net)
    other.get_submodule("norm").eps = 1e-2  # type: ignore[assignment]
    done = compare_on(ExportedSide(_exported(net, batch, tmp_path / "a.pt2")), TorchSide(other), batch)
    assert done.troubles[0].parting.node == "batch_norm"
    place = done.graph.value("batch_norm").place
    assert place is not None
    assert place.code == "hidden = torch.relu(self.norm(self.conv(x)))"


class Malicious:
    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (self.mark,)


def _with_pickle(path: Path, inside: object) -> None:
    """The example inputs of the program replaced by another pickle."""
    other = path.with_suffix(".other")
    torch.save(inside, path.with_suffix(".inner"))
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(other, "w") as new:
        for name in old.namelist():
            is_example = "sample_inputs" in name
            new.writestr(name, path.with_suffix(".inner").read_bytes() if is_example else old.read(name))
    other.replace(path)


def test_a_pickle_in_an_exported_program_runs_only_if_it_is_trusted(
    net: nn.Module, batch: Batch, tmp_path: Path
) -> None:
    path, mark = _exported(net, batch, tmp_path / "net.pt2"), tmp_path / "mark"
    _with_pickle(path, Malicious(str(mark)))
    with pytest.raises(CannotCompare, match=r"net\.pt2 .*--trust") as told:
        ExportedSide(path)
    assert "\n" not in str(told.value)
    assert not mark.exists()
    assert "TORCH_FORCE_WEIGHTS_ONLY_LOAD" not in os.environ
    with pytest.raises(CannotCompare):  # it is no example of the inputs, but by then it has run
        ExportedSide(path, trust=True).run(batch)
    assert mark.exists()


@pytest.mark.parametrize("content", [b"", b"no archive at all"])
@pytest.mark.parametrize(("side", "said"), [(ExportedSide, "an exported program"), (TorchScriptSide, "TorchScript")])
def test_a_file_that_is_something_else_is_one_line(
    side: Callable[[Path], Any], said: str, content: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.pt"
    path.write_bytes(content)
    with pytest.raises(CannotCompare, match=f"broken.pt cannot be read as {said}: ") as told:
        side(path)
    assert "\n" not in str(told.value)
    assert capfd.readouterr() == ("", "")
    with pytest.raises(CannotCompare, match="there is no file"):
        side(tmp_path / "none.pt")


@pytest.mark.parametrize("how", ["traced", "scripted", "frozen"])
def test_a_torchscript_file_tells_its_inner_values(net: nn.Module, batch: Batch, tmp_path: Path, how: str) -> None:
    path = tmp_path / "net.pt"
    scripted: Any = torch.jit.script(net) if how != "traced" else torch.jit.trace(net, torch.from_numpy(batch[0]))  # type: ignore[no-untyped-call]
    if how == "frozen":
        scripted = torch.jit.freeze(scripted, optimize_numerics=False)
    scripted.save(str(path))
    side = open_side(str(path))
    assert isinstance(side, TorchScriptSide)
    done = compare_on(TorchSide(net), side, batch)
    assert done.same
    assert {step.node.op for step in done.steps} >= {"conv2d", "batch_norm", "relu", "mean", "linear"}


def test_a_fault_in_a_torchscript_file_is_found_at_its_layer(seeded: Seeded, tmp_path: Path) -> None:
    model = seeded(Recurrent)
    words = (np.random.default_rng(0).integers(0, 20, (4, 6)),)
    other = copy.deepcopy(model)
    other.get_submodule("head").bias.data.zero_()  # type: ignore[union-attr,operator]
    done = compare_on(TorchSide(model), TorchScriptSide(_scripted(other, words, tmp_path / "net.pt")), words)
    assert [one.parting.node for one in done.troubles] == ["linear"]
    assert done.steps[-1].target.place is not None


def test_a_torchscript_file_can_be_the_reference(seeded: Seeded, tmp_path: Path) -> None:
    model = seeded(Recurrent)
    words = (np.random.default_rng(0).integers(0, 20, (4, 6)),)
    script = TorchScriptSide(_scripted(model, words, tmp_path / "net.pt"))
    assert compare_on(script, TorchSide(model), words).same
    other = copy.deepcopy(model)
    other.get_submodule("words").weight.data.mul_(1.01)  # type: ignore[union-attr,operator]
    done = compare_on(script, TorchSide(other), words)
    assert [one.parting.node for one in done.troubles] == ["embedding"]


def test_inputs_that_a_torchscript_file_cannot_take_are_one_line(net: nn.Module, batch: Batch, tmp_path: Path) -> None:
    side = TorchScriptSide(_scripted(net, batch, tmp_path / "net.pt"))
    with pytest.raises(CannotCompare, match="cannot be run on these inputs") as told:
        side.run((np.zeros((1, 7, 6, 6), np.float32),))
    assert "\n" not in str(told.value)
