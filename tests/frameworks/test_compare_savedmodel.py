"""TensorFlow SavedModels against the torch models they are ports of, and what is no SavedModel."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("tensorflow")
pytest.importorskip("keras")

from sleuth.compare.comparison import compare_on
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides import savedmodel
from sleuth.compare.sides.pieces import Step, wholes
from sleuth.compare.sides.savedmodel import SavedModelSide
from sleuth.compare.sides.torch_ import TorchSide

PROGRAMS = Path(__file__).parent / "programs" / "compare"
SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """The folder of the models, and what was said about those that cannot be opened."""
    folder = tmp_path_factory.mktemp("saved")
    path = f"{SOURCE}{os.pathsep}{PROGRAMS}"
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow", "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(PROGRAMS / "save_models.py"), str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return folder, json.loads(done.stdout)


@pytest.fixture(scope="module")
def models() -> Any:
    spec = importlib.util.spec_from_file_location("torch_models", PROGRAMS / "torch_models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.models()


@pytest.fixture
def opened(made: Any) -> Any:
    sides = []

    def open_one(name: str) -> SavedModelSide:
        sides.append(SavedModelSide(made[0] / name))
        return sides[-1]

    yield open_one
    for side in sides:
        side.close()


def test_a_faithful_port_is_the_same_at_every_value(opened: Any, models: Any) -> None:
    model, given = models["cnn"]
    side = opened("cnn")
    done = compare_on(TorchSide(model), side, (given.numpy(),))
    assert done.same
    assert not any(step.score.parted for step in done.steps)
    paired = [(step.node.op, step.target.op) for step in done.steps]
    for op in ("conv2d", "batch_norm", "relu", "add", "max_pool2d", "linear"):
        assert (op, op) in paired
    assert side.weights()["c1.kernel"].shape == (3, 3, 3, 8)
    assert side.size > 10_000


def test_a_wrong_epsilon_is_found_at_its_layer_and_named(opened: Any, models: Any) -> None:
    model, given = models["gpt"]
    done = compare_on(TorchSide(model), opened("gpt_epsilon"), (given.numpy(),))
    assert not done.same
    trouble = done.troubles[0]
    assert trouble.parting.node == "layer_norm_3"
    assert trouble.step is not None
    assert "m1" in trouble.step.target.layer
    assert trouble.explanation is not None
    assert trouble.explanation.diagnosis == "epsilon-differs"


def test_an_object_that_can_be_called_needs_no_signature(opened: Any) -> None:
    side = opened("called")
    assert [(one.name, one.shape, one.dtype) for one in side.inputs] == [
        ("b", (None, 2), "float32"),
        ("a", (2,), "float32"),
    ]
    b, a = np.array([[1, -1]], "float32"), np.array([10, 0], "float32")
    captured = side.capture((b, a))
    np.testing.assert_array_equal(captured.outputs[0], [[8, 0]])
    np.testing.assert_array_equal(captured.outputs[1], 0)
    assert [value.op for value in captured.values] == ["linear", "add", "relu", "sum"]
    with pytest.raises(CannotCompare, match="cannot be run on these inputs: ") as raised:
        side.run((b[:, :1], a))
    assert "\n" not in str(raised.value)


def test_several_signatures_without_a_default_are_named(made: Any) -> None:
    assert made[1]["several"].endswith("has several signatures and none is serving_default: one, two")


def test_what_is_no_saved_model_is_refused_in_one_line(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "broken cannot be read as a SavedModel: " in made[1]["broken"]
    assert "\n" not in made[1]["broken"]
    with pytest.raises(CannotCompare, match=r"is no SavedModel: it has no saved_model\.pb"):
        SavedModelSide(tmp_path)
    monkeypatch.setattr(savedmodel.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CannotCompare, match=r"pip install 'sleuth-ml\[tensorflow\]'"):
        SavedModelSide(made[0] / "broken")


def test_a_bias_belongs_to_its_product_and_a_residual_does_not() -> None:
    steps = [
        Step("x", "input", "input", ()),
        Step("w", "other", "const", ()),
        Step("b", "other", "const", ()),
        Step("product", "product", "matmul", ("x", "w")),
        Step("biased", "add", "add", ("product", "b")),
        Step("residual", "add", "add", ("biased", "x")),
        Step("squares", "product", "matmul", ("x", "x")),
    ]
    found = wholes(steps)
    compared = [(step.name, found.word(step)) for step in steps if found.is_compared(step)]
    assert compared == [("biased", "linear"), ("residual", "add"), ("squares", "matmul")]
