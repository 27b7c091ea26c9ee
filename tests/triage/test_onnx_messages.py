"""The signatures of ONNX Runtime know the messages that the installed one gives."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recognising import errors_in, traceback_of

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
np = pytest.importorskip("numpy")


def model(operator: str = "Relu", opset: int = 13) -> bytes:
    """One operator between an input `x` and an output `y` of 2 by 3 numbers."""
    number, helper = onnx.TensorProto.FLOAT, onnx.helper
    ends = [helper.make_tensor_value_info(name, number, [2, 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "g", ends[:1], ends[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    data: bytes = made.SerializeToString()
    return data


def run(value: Any, name: str = "x", outputs: list[str] | None = None) -> None:
    runtime.InferenceSession(model()).run(outputs, {"x": np.ones((2, 3), np.float32), name: value})


def run_without() -> None:
    runtime.InferenceSession(model()).run(None, {"images": np.ones((2, 3), np.float32)})


RAISED: dict[str, list[Callable[[], Any]]] = {
    "onnxruntime-type": [lambda: run(np.ones((2, 3))), lambda: run(np.ones((2, 3), np.int32))],
    "onnxruntime-input": [lambda: run(np.ones((2, 4), np.float32)), lambda: run(np.ones(2, np.float32))],
    "onnxruntime-name": [
        run_without,
        lambda: run(np.ones(1, np.float32), "data"),
        lambda: run(np.ones((2, 3), np.float32), outputs=["prob"]),
    ],
    "onnxruntime-no-file": [lambda: runtime.InferenceSession("nothing.onnx")],
    "onnxruntime-load": [
        lambda: runtime.InferenceSession(b"no model at all"),
        lambda: runtime.InferenceSession(model("NoSuchOperator")),
        lambda: runtime.InferenceSession(model(opset=99)),
    ],
}
CASES = [
    pytest.param(name, program, id=f"{name}-{number}")
    for name, programs in RAISED.items()
    for number, program in enumerate(programs)
]


@pytest.mark.parametrize(("name", "program"), CASES)
def test_the_message_is_known_by_this_signature_alone(name: str, program: Callable[[], Any]) -> None:
    found = errors_in(traceback_of(program))
    assert [match.signature.name for match in found] == [name]
    assert "…" not in found[0].recognised.why


def test_a_card_that_it_cannot_use_is_a_matter_of_installation() -> None:
    if "CUDAExecutionProvider" in runtime.get_available_providers():
        pytest.skip("this one can")
    with pytest.warns(UserWarning, match="provider") as warned:
        runtime.InferenceSession(model(), providers=["CUDAExecutionProvider"])
    found = errors_in("".join(str(one.message) for one in warned))
    assert [match.signature.name for match in found] == ["onnxruntime-provider"]


def test_the_command_that_shows_the_inputs_of_a_model_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (step,) = errors_in(traceback_of(RAISED["onnxruntime-type"][0]))[0].signature.next
    assert isinstance(step, dict)
    (tmp_path / "model.onnx").write_bytes(model())
    monkeypatch.chdir(tmp_path)
    program = step["run"].removeprefix('python -c "').removesuffix('"')
    try:
        exec(program, {})
    except Exception:
        pytest.fail(traceback.format_exc())
    assert "tensor(float)" in capsys.readouterr().out
