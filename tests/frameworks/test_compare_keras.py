"""Keras on three backends: ports of torch models, what is captured of them, and files in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("onnx")

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides import keras_
from sleuth.compare.sides.keras_ import KerasSide

PROGRAMS = Path(__file__).parent / "programs" / "compare"
SOURCE = Path(__file__).parents[2] / "src"
BACKENDS = ("torch", "jax", "tensorflow")


def environment(backend: str) -> dict[str, str]:
    return {
        **os.environ,
        "KERAS_BACKEND": backend,
        "PYTHONPATH": f"{SOURCE}{os.pathsep}{PROGRAMS}",
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `compare_keras.py` tells on a backend, and the folder it saved to; once a backend."""
    kept: dict[str, tuple[dict[str, Any], Path]] = {}

    def run(backend: str) -> tuple[dict[str, Any], Path]:
        pytest.importorskip(backend)
        if backend not in kept:
            folder = tmp_path_factory.mktemp(backend)
            command = [sys.executable, str(PROGRAMS / "compare_keras.py"), str(folder)]
            done = subprocess.run(command, env=environment(backend), capture_output=True, text=True, timeout=600)
            assert done.returncode == 0, done.stderr[-2000:]
            kept[backend] = json.loads(done.stdout), folder
        return kept[backend]

    return run


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["cnn", "lstm", "gru", "gpt"])
def test_a_faithful_port_is_the_same_at_every_value(ran: Any, backend: str, name: str) -> None:
    told = ran(backend)[0]["ports"][name]
    assert told["same"]
    assert told["parted"] == []
    assert told["pairs"] >= 4


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("name", "node", "layer"),
    [("cnn epsilon", "batch_norm_1", "b2"), ("cnn flip", "conv2d_1", "c2"), ("gpt epsilon", "layer_norm_3", "m1")],
)
def test_a_mistake_in_one_layer_is_found_at_that_layer(
    ran: Any, backend: str, name: str, node: str, layer: str
) -> None:
    told = ran(backend)[0]["ports"][name]
    assert not told["same"]
    assert (told["at"], told["layer"]) == (node, layer)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["cnn epsilon", "gpt epsilon"])
def test_a_wrong_epsilon_is_named(ran: Any, backend: str, name: str) -> None:
    told = ran(backend)[0]["ports"][name]
    assert told["why"] == "epsilon-differs"
    assert "0.001" in told["says"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_layers_and_the_users_own_arithmetic_are_captured_in_order(ran: Any, backend: str) -> None:
    told = ran(backend)[0]["shared"]
    assert [(name, op) for name, op, _ in told["values"]] == [
        ("once.before activation", "linear"),
        ("once", "gelu"),
        ("twice", "linear"),
        ("twice:1", "linear"),
        ("inner.deep", "linear"),
        ("inner.norm", "layer_norm"),
        ("add", "add"),
        ("tanh", "tanh"),
        ("mul", "mul"),
    ]
    places = {name: code for name, _, code in told["values"]}
    assert places["add"] == places["inner.norm"] == "h = h + self.inner(h)  # the sum"
    assert told["some"] == ["once", "tanh"]
    assert told["right"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_capturing_leaves_keras_as_it_was(ran: Any, backend: str) -> None:
    told = ran(backend)[0]["shared"]
    assert told["restored"]
    assert told["inputs"] == 0
    assert {"once.kernel", "twice.bias", "inner.norm.gamma"} <= set(told["weights"])


@pytest.mark.parametrize(
    ("name", "word", "layers"),
    [
        ("cnn", "batch_norm", ["b1", "b2"]),
        ("gpt", "layer_norm", ["n0", "m0", "n1", "m1", "f"]),
        # The operation, and the first of its results, which goes by its name.
        ("lstm", "lstm", ["r0", "r0", "r1", "r1"]),
        ("gru", "gru", ["r0", "r0", "r1", "r1"]),
    ],
)
def test_on_torch_the_graph_holds_whole_operations_with_their_layers(
    ran: Any, name: str, word: str, layers: list[str]
) -> None:
    told = ran("torch")[0]["graphs"][name]
    assert [layer for op, layer in told["found"] if op == word] == layers


@pytest.mark.parametrize("name", ["cnn", "gru", "gpt"])
def test_the_graph_in_float64_is_the_torch_model_in_float64(ran: Any, name: str) -> None:
    assert ran("torch")[0]["graphs"][name]["error"] < 1e-12


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_on_another_backend_there_is_no_graph(ran: Any, backend: str) -> None:
    assert set(ran(backend)[0]["graphs"].values()) == {None}


def test_with_the_keras_model_as_the_reference_the_fault_is_found_too(ran: Any) -> None:
    told = ran("torch")[0]["turned"]
    assert not told["same"]
    assert (told["at"], told["why"]) == ("batch_norm_1", "epsilon-differs")
    assert "1e-05, not 0.001" in told["says"]


@pytest.fixture(scope="module")
def file(ran: Any) -> Path:
    return Path(ran("torch")[1]) / "cnn.keras"


@pytest.fixture(scope="module")
def side(file: Path) -> Any:
    pytest.importorskip("jax")
    opened = KerasSide(file, "jax")
    yield opened
    opened.close()


IMAGE = np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("float32")


def test_a_file_runs_in_a_process_of_its_own(side: Any, file: Path) -> None:
    assert side.runtime.endswith("on jax")
    assert side.inputs[0].shape == (None, 8, 8, 3)
    assert side.size == file.stat().st_size
    captured = side.capture((IMAGE,), ["b1", "fc"])
    assert [value.name for value in captured.values] == ["b1", "fc"]
    np.testing.assert_array_equal(captured.arrays["fc"], captured.outputs[0])
    np.testing.assert_array_equal(side.run((IMAGE,))[0], captured.outputs[0])
    assert side.weights()["c1.kernel"].shape == (3, 3, 3, 8)


def test_an_error_there_is_one_line_here_and_the_process_goes_on(side: Any) -> None:
    with pytest.raises(CannotCompare, match="cannot be run on these inputs: ") as raised:
        side.run((IMAGE[..., :2],))
    assert "\n" not in str(raised.value)
    assert side.run((IMAGE,))[0].shape == (2, 10)


def test_code_in_a_file_is_run_only_if_it_is_trusted(ran: Any) -> None:
    told = ran("torch")[0]["refused"]
    assert "Lambda layer" in told["lambda.keras"]
    assert told["lambda.keras"].endswith("add --trust if you know its origin")
    assert told["trusted"] == [[2, 2]]


def test_a_config_that_keras_cannot_read_is_told_in_one_line(ran: Any) -> None:
    told = ran("torch")[0]["refused"]["broken.keras"]
    assert "cannot be read as a Keras model: " in told
    assert "\n" not in told


def test_a_class_that_keras_does_not_know_is_named(ran: Any) -> None:
    told = ran("torch")[0]["refused"]["custom.keras"]
    assert "a class that Keras does not know here, Mine: " in told


def test_what_is_no_model_is_refused_before_a_process_is_started(tmp_path: Path) -> None:
    with pytest.raises(CannotCompare, match="no such file"):
        KerasSide(tmp_path / "none.keras")
    (tmp_path / "text.keras").write_text("hello")
    with pytest.raises(CannotCompare, match=r"it is not a \.keras archive"):
        KerasSide(tmp_path / "text.keras")
    with zipfile.ZipFile(tmp_path / "other.keras", "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(CannotCompare, match=r"an archive without config\.json"):
        KerasSide(tmp_path / "other.keras")


def test_an_unknown_or_missing_backend_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotCompare, match="Keras has no backend 'theano'"):
        KerasSide(file, "theano")
    monkeypatch.setattr(keras_.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CannotCompare, match=r"pip install 'sleuth-ml\[jax\]'"):
        KerasSide(file, "jax")


def test_without_keras_the_extra_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise keras_.importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(keras_.importlib.metadata, "version", missing)
    with pytest.raises(CannotCompare, match=r"pip install 'sleuth-ml\[keras\]'"):
        KerasSide(file)
