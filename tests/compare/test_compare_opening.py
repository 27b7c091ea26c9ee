"""Models are opened from what stands on the command line or from the object itself; what cannot be is one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch
from torch import nn

from sleuth import program
from sleuth.compare.opening import open_side
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torchscript import TorchScriptSide

MODELS = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        return self.layer(x)

class Wide(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()

class Box:
    inner = Net()

def build():
    return Net()

def pair():
    return Net(), torch.randn(5, 4)

def fails():
    width = 0
    return nn.Linear(4 // width, 3)

def forgets():
    Net()

def listed():
    return [1, 2]

def on_a_gpu():
    return Net().to("cuda")

if __name__ == "__main__":
    raise AssertionError("not for an import")
"""


@pytest.fixture(autouse=True)
def _python_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The folder of the test is where the command is run; modules and the path are put back afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    program._started_in.cache_clear()
    before = set(sys.modules)
    yield
    program._started_in.cache_clear()
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    path = tmp_path / "models.py"
    path.write_text(MODELS)
    return path


def refused(spec: Any, **wishes: Any) -> str:
    with pytest.raises(CannotCompare) as caught:
        open_side(spec, **wishes)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["Net", "build", "Box.inner", "pair"])
@pytest.mark.parametrize("where", ["models.py", "models", "./models.py"])
def test_a_model_is_opened_by_its_python_name(models: Path, where: str, name: str) -> None:
    side = open_side(f"{where}:{name}")
    assert isinstance(side, TorchSide)
    assert type(side.model).__name__ == "Net"
    assert side.title == f"{where}:{name}"


def test_example_inputs_returned_with_the_model_are_its_signature(models: Path) -> None:
    side = open_side("models.py:pair")
    assert [(one.name, one.shape, one.dtype) for one in side.inputs] == [("x", (5, 4), "float32")]


def test_two_files_of_one_name_in_two_folders_are_two_models(tmp_path: Path) -> None:
    for folder, width in (("old", 3), ("new", 7)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "sizes.py").write_text(f"WIDTH = {width}\n")
        (tmp_path / folder / "model.py").write_text(
            "from torch import nn\nfrom sizes import WIDTH\ndef build():\n    return nn.Linear(2, WIDTH)\n"
        )
    widths = [open_side(f"{folder}/model.py:build").weights()["weight"].shape[0] for folder in ("old", "new", "old")]
    assert widths == [3, 7, 3]


def test_a_file_in_a_package_may_import_its_neighbours_by_dots(models: Path, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "layers.py").write_text("from torch import nn\nLayer = nn.Flatten\n")
    (tmp_path / "package" / "net.py").write_text("from .layers import Layer\n")
    assert type(open_side("package/net.py:Layer").model).__name__ == "Flatten"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("models.py:Nett", "models.py has no Nett; did you mean models.py:Net?"),
        ("models.py:Box.iner", "models.py:Box has no iner; did you mean models.py:Box.inner?"),
        ("models.py:zzz", "models.py has no zzz; it has Net, Wide, Box, build, pair, fails"),
        ("models.py", "models.py: say which model, as models.py:NAME (Net, Wide, Box, build, pair, fails)"),
        (
            "models.py:Wide",
            "models.py:Wide needs arguments (width): name a function without arguments that returns the model",
        ),
        (
            "models.py:fails",
            "models.py:28: models.py:fails fails: ZeroDivisionError: integer division or modulo by zero",
        ),
        ("models.py:forgets", "models.py:forgets: None (does the function return it?) is no model"),
        ("models.py:listed", "models.py:listed: a thing of type list is no model"),
        ("modles.py:Net", "modles.py: no such file; did you mean models.py?"),
        ("nowhere:Net", "there is no module nowhere"),
        ("weights.onnx", "weights.onnx: no such file"),
        ("folder/none.pt", "folder/none.pt: no such file"),
    ],
)
def test_a_bad_name_is_one_line_that_helps(models: Path, spec: str, line: str) -> None:
    assert refused(spec) == line


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_model_that_needs_a_gpu_is_told_with_its_line(models: Path) -> None:
    assert refused("models.py:on_a_gpu").startswith("models.py:37: needs a GPU, and there is none here")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(:\n", "broken.py:1: syntax error: invalid syntax"),
        (
            "\nimport not_there_at_all\n",
            "broken.py:2: broken.py cannot be imported: it needs not_there_at_all, which is not installed",
        ),
        ("x = {}\ny = x['a']\n", "broken.py:2: broken.py cannot be imported: KeyError: 'a'"),
        (
            "import sys\nsys.exit(3)\n",
            "broken.py:2: broken.py cannot be imported: it ends the program; "
            "put that under `if __name__ == '__main__':`",
        ),
    ],
)
def test_an_error_in_the_users_module_is_told_with_its_line(tmp_path: Path, source: str, line: str) -> None:
    (tmp_path / "broken.py").write_text(source)
    assert refused("broken.py:f") == line
    assert "broken" not in sys.modules


@pytest.fixture
def net() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(4, 3))


def test_weights_are_put_into_the_module_that_they_belong_to(models: Path) -> None:
    torch.save({"layer.weight": torch.ones(3, 4), "layer.bias": torch.zeros(3)}, "plain.pt")
    torch.save(
        {"epoch": 3, "state_dict": {"model.layer.weight": torch.ones(3, 4), "model.layer.bias": torch.zeros(3)}},
        "training.ckpt",
    )
    for file in ("plain.pt", "training.ckpt"):
        assert (open_side(f"models.py:Net+{file}").weights()["layer.weight"] == 1).all()


def test_safetensors_are_weights_too(models: Path) -> None:
    safetensors = pytest.importorskip("safetensors.torch")
    safetensors.save_file({"layer.weight": torch.ones(3, 4), "layer.bias": torch.zeros(3)}, "w.safetensors")
    assert (open_side("models.py:build+w.safetensors").weights()["layer.weight"] == 1).all()


def test_weights_that_do_not_fit_are_one_line(models: Path) -> None:
    torch.save({"layer.weight": torch.ones(3, 5), "head.bias": torch.zeros(3)}, "w.pt")
    assert refused("models.py:Net+w.pt") == (
        "w.pt does not fit models.py:Net: it is without layer.bias, also with head.bias, with layer.weight of 3 x 5 "
        "instead of 3 x 4"
    )


def test_weights_alone_are_no_model(models: Path) -> None:
    torch.save({"layer.weight": torch.ones(3, 4)}, "w.pt")
    assert refused("w.pt") == "w.pt holds weights alone: say the model too, as model.py:Net+w.pt"


def test_a_pickle_is_not_run_without_trust(tmp_path: Path) -> None:
    (tmp_path / "touching.py").write_text(
        dedent("""
        from pathlib import Path
        class Touch:
            def __reduce__(self):
                return Path("touched").touch, ()
        """)
    )
    sys.path.insert(0, str(tmp_path))
    import touching  # type: ignore[import-not-found]

    torch.save(touching.Touch(), "trap.pt")
    assert (
        refused("trap.pt")
        == "trap.pt holds Python objects, which run code when loaded: --trust, if you know where it is from"
    )
    assert not Path("touched").exists()


def test_a_whole_module_is_opened_where_it_is_trusted(net: nn.Module) -> None:
    torch.save(net, "whole.pt")
    assert "--trust" in refused("whole.pt")
    assert isinstance(open_side("whole.pt", trust=True), TorchSide)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("junk.pt", "junk.pt cannot be read as a file of torch.save"),
        (
            "junk.txt",
            "junk.txt: a model is one of file.py:name, module:name, .pt2, .pt, .onnx, .keras, a SavedModel folder, "
            "not .txt",
        ),
    ],
)
def test_a_file_that_is_no_model_is_one_line(name: str, line: str) -> None:
    Path(name).write_text("hello")
    assert refused(name) == line


def test_a_folder_is_no_model_unless_it_is_a_saved_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert refused("empty") == "empty is a folder without saved_model.pb, so no SavedModel; name a file in it"


def test_torchscript_and_exported_programs_are_told_by_their_contents(net: nn.Module) -> None:
    example = torch.randn(2, 4)
    torch.jit.trace(net, example).save("scripted.pt")
    torch.export.save(torch.export.export(net, (example,)), "exported.pt2")
    Path("exported.pt").write_bytes(Path("exported.pt2").read_bytes())
    kinds = [type(open_side(name)) for name in ("scripted.pt", "exported.pt2", "exported.pt")]
    assert kinds == [TorchScriptSide, ExportedSide, ExportedSide]


def test_objects_are_opened_as_they_are(net: nn.Module) -> None:
    exported = torch.export.export(net, (torch.randn(2, 4),))
    sides = [open_side(one) for one in (net, lambda: net, (net, torch.randn(5, 4)), exported)]
    assert [type(one) for one in sides] == [TorchSide, TorchSide, TorchSide, ExportedSide]
    assert sides[2].inputs[0].shape == (5, 4)
    assert open_side(sides[0]) is sides[0]
    assert refused(3) == "int: a thing of type int is no model"


def test_an_onnx_model_in_memory_is_opened_too(net: nn.Module) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    exported = torch.onnx.export(net.eval(), (torch.randn(2, 4),), dynamo=True, verbose=False)
    assert exported is not None
    batch = (torch.ones(2, 4).numpy(),)
    expected = open_side(net).run(batch)[0]
    for held in (exported, exported.model_proto):
        side = open_side(held)
        assert side.runtime.startswith("ONNX Runtime")
        assert abs(side.run(batch)[0] - expected).max() < 1e-6
    assert isinstance(exported.model_proto, onnx.ModelProto)


def test_a_framework_that_is_not_there_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("model.onnx").touch()
    monkeypatch.delitem(sys.modules, "sleuth.compare.sides.onnx_", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # type: ignore[arg-type]
    assert refused("model.onnx").endswith("needs onnxruntime: pip install 'sleuth-ml[onnx]'")


def test_inputs_given_at_the_opening_are_the_signature(net: nn.Module) -> None:
    side = open_side(net, inputs={"input": torch.zeros(6, 4)})
    assert [(one.name, one.shape) for one in side.inputs] == [("input", (6, 4))]
