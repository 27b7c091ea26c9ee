"""What cannot be compared as ONNX is said in one line that names the file and the reason."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.onnx_ import OnnxSide
from sleuth.compare.sides.onnx_session import refusal


def written(folder: Path, *nodes, weights=(), opset: int = 18, ir: int = 10, domain: str = "", shape=(2, 4)) -> Path:
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in weights],
    )
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir)
    path = folder / "model.onnx"
    onnx.save(model, str(path))
    return path


def refused(path: Path, batch=None) -> str:
    with pytest.raises(CannotCompare) as problem:
        OnnxSide(path).run(batch or ())
    line = str(problem.value)
    assert "\n" not in line
    assert "onnxruntime_src" not in line
    assert "ONNXRuntimeError" not in line
    return line


RELU = helper.make_node("Relu", ["x"], ["y"])


def test_no_file(tmp_path):
    assert refused(tmp_path / "none.onnx") == f"there is no file {tmp_path / 'none.onnx'}"


def test_a_folder(tmp_path):
    assert refused(tmp_path).endswith("is a folder, not an ONNX file")


@pytest.mark.parametrize("content", [b"hello world, this is no model", b"", b"\x80\x02}q\x00."])
def test_a_file_of_something_else(tmp_path, content):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert "is not an ONNX model" in refused(path)


def test_an_opset_of_the_future(tmp_path):
    assert "does not know opset 40: export it with an older one" in refused(written(tmp_path, RELU, opset=40))


def test_a_format_of_the_future(tmp_path):
    assert "its format is version 40" in refused(written(tmp_path, RELU, ir=40))


def test_an_operator_of_another_library(tmp_path):
    node = helper.make_node("Fancy", ["x"], ["y"], domain="com.acme")
    assert refused(written(tmp_path, node, domain="com.acme")).endswith("does not know its operator com.acme.Fancy")


def test_an_operator_that_there_is_not(tmp_path):
    assert refused(written(tmp_path, helper.make_node("Fancy", ["x"], ["y"]))).endswith(
        "does not know its operator Fancy"
    )


def test_a_model_optimised_for_a_gpu(tmp_path):
    ones = np.ones(4, np.float32)
    node = helper.make_node("GroupNorm", ["x", "g", "b"], ["y"], domain="com.microsoft", groups=2, activation=0)
    path = written(tmp_path, node, weights=[("g", ones), ("b", ones)], domain="com.microsoft", shape=(1, 4, 4, 4))
    assert "has no GroupNorm for the CPU; the model was optimised for a GPU" in refused(path)


def test_a_graph_that_does_not_hang_together(tmp_path):
    assert "'z' is not a graph input" in refused(written(tmp_path, helper.make_node("Relu", ["z"], ["y"])))


def test_weights_that_were_left_behind(tmp_path):
    path = written(
        tmp_path, helper.make_node("MatMul", ["x", "w"], ["y"]), weights=[("w", np.ones((4, 9), np.float32))]
    )
    onnx.save(onnx.load(str(path)), str(path), save_as_external_data=True, location="w.data", size_threshold=8)
    assert OnnxSide(path).size > (tmp_path / "w.data").stat().st_size
    (tmp_path / "w.data").unlink()
    assert refused(path) == f"{path}: its weight w is kept in w.data, which is not beside it"


def test_weights_that_were_cut_short(tmp_path):
    path = written(
        tmp_path, helper.make_node("MatMul", ["x", "w"], ["y"]), weights=[("w", np.ones((4, 9), np.float32))]
    )
    onnx.save(onnx.load(str(path)), str(path), save_as_external_data=True, location="w.data", size_threshold=8)
    (tmp_path / "w.data").write_bytes(b"123")
    assert "cannot be run" in refused(path)


def test_inputs_that_do_not_fit(tmp_path):
    path = written(
        tmp_path, helper.make_node("MatMul", ["x", "w"], ["y"]), weights=[("w", np.ones((4, 9), np.float32))]
    )
    assert "cannot be run on these inputs: Invalid rank for input: x" in refused(path, (np.ones(3, np.float32),))


def test_the_runtimes_own_source_is_left_out():
    source = "/onnxruntime_src/onnxruntime/core/graph/model.cc:25 void f(int, X<a>)"
    message = f"[ONNXRuntimeError] : 1 : FAIL : {source} Some reason"
    assert refusal(message) == "Some reason"


def test_a_missing_package_is_named_with_its_extra():
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from sleuth.compare.side import CannotCompare\n"
        "try:\n    import sleuth.compare.sides.onnx_\n"
        "except CannotCompare as problem:\n    print(problem)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "an ONNX model needs onnxruntime: pip install 'sleuth-ml[onnx]'"
