"""An ONNX file as a side: how it is run, what is seen inside it, and what its values are called."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from sleuth.compare.comparison import compare_on
from sleuth.compare.sides.onnx_ import OnnxSide
from sleuth.compare.sides.onnx_shapes import value_bytes

FLOAT = TensorProto.FLOAT
RNG = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def written(folder: Path, nodes, weights=None, shape=("n", 4), outputs=("y",), kind=FLOAT, external=False) -> Path:
    graph = helper.make_graph(
        list(nodes),
        "graph",
        [helper.make_tensor_value_info("x", kind, list(shape))],
        [helper.make_tensor_value_info(name, kind, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    path = folder / "model.onnx"
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.save(model, str(path), save_as_external_data=external, location="weights.data", size_threshold=8)
    return path


def node(kind: str, inputs: str, outputs: str, name: str = "", **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), name=name, **attributes)


LAYERS = [
    node("MatMul", "x w", "m"),
    node("Add", "m b", "h"),
    node("Relu", "h", "r"),
    node("Gemm", "r v", "y", transB=1),
]


def weights() -> dict[str, np.ndarray]:
    return {"w": numbers(4, 6), "b": numbers(6), "v": numbers(3, 6)}


def computed(batch: np.ndarray, given: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    hidden = batch @ given["w"] + given["b"]
    return {"m": batch @ given["w"], "h": hidden, "r": hidden.clip(0), "y": hidden.clip(0) @ given["v"].T}


@pytest.mark.parametrize("external", [False, True])
def test_outputs_and_inner_values_are_those_of_the_graph(tmp_path, external):
    given = weights()
    side = OnnxSide(written(tmp_path, LAYERS, given, external=external))
    batch = numbers(3, 4)
    captured = side.capture((batch,))
    assert [value.name for value in captured.values] == ["m", "h", "r", "y"]
    for name, array in computed(batch, given).items():
        np.testing.assert_allclose(captured.arrays[name], array, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(captured.outputs[0], side.run((batch,))[0])


def test_only_what_is_asked_for_is_captured(tmp_path):
    captured = OnnxSide(written(tmp_path, LAYERS, weights())).capture((numbers(3, 4),), {"h"})
    assert [value.name for value in captured.values] == ["h", "y"]


def test_a_free_dimension_is_free(tmp_path):
    side = OnnxSide(written(tmp_path, LAYERS, weights()))
    assert side.inputs[0].shape == (None, 4)
    assert [side.run((numbers(n, 4),))[0].shape for n in (1, 5)] == [(1, 3), (5, 3)]


def test_the_room_that_values_take_is_known_from_the_batch(tmp_path):
    side = OnnxSide(written(tmp_path, LAYERS, weights()))
    assert value_bytes(side.model, {"x": numbers(10, 4)}) == {"m": 240, "h": 240, "r": 240, "y": 120}


def test_a_value_of_unknown_size_is_taken_for_the_largest(tmp_path):
    nodes = [node("NonZero", "x", "where"), node("Cast", "where", "y", to=FLOAT)]
    side = OnnxSide(written(tmp_path, nodes))
    assert value_bytes(side.model, {"x": numbers(10, 4)})["where"] >= 160


def test_a_large_model_is_run_several_times(tmp_path, monkeypatch):
    given = weights()
    side = OnnxSide(written(tmp_path, LAYERS, given))
    batch = numbers(10, 4)
    side.bytes_a_pass = 480
    asked = []
    within = OnnxSide._inner
    monkeypatch.setattr(
        OnnxSide, "_inner", lambda self, batch, names: asked.append(names) or within(self, batch, names)
    )
    captured = side.capture((batch,))
    assert asked == [["m", "h"], ["r"]]
    np.testing.assert_allclose(captured.arrays["r"], computed(batch, given)["r"], rtol=1e-4, atol=1e-5)


def test_values_within_a_branch_are_its_own_affair(tmp_path):
    def branch(kind: str):
        return helper.make_graph(
            [node(kind, "x", "inner")], kind, [], [helper.make_tensor_value_info("inner", FLOAT, None)]
        )

    nodes = [
        node("ReduceSum", "x", "s", keepdims=0),
        node("Greater", "s zero", "is"),
        node("If", "is", "z", then_branch=branch("Relu"), else_branch=branch("Neg")),
        node("Abs", "z", "y"),
    ]
    side = OnnxSide(written(tmp_path, nodes, {"zero": np.zeros((), np.float32)}))
    assert [value.name for value in side.capture((-np.ones((2, 4), np.float32),)).values] == ["s", "is", "z", "y"]


class Misled(OnnxSide):
    """As if ONNX Runtime made a mistake from one level on."""

    wrong_from = "extended"

    def run_at(self, batch, level):
        off = level in ("extended", "all") if self.wrong_from == "extended" else True
        return [one + 1.0 if off else one for one in super().run_at(batch, level)]


def test_the_level_at_which_the_optimiser_parts_is_found(tmp_path):
    given, batch = weights(), numbers(3, 4)
    side = Misled(written(tmp_path, LAYERS, given))

    def parted(outputs):
        return not np.allclose(outputs[0], computed(batch, given)["y"], atol=1e-4)

    assert side.optimiser_parts((batch,), parted) == "extended"
    side.wrong_from = "none"
    assert side.optimiser_parts((batch,), parted) is None
    assert OnnxSide(side.path).optimiser_parts((batch,), parted) is None


def test_the_precision_is_that_of_the_weights(tmp_path):
    halves = {name: array.astype(np.float16) for name, array in weights().items()}
    assert OnnxSide(written(tmp_path, LAYERS, halves, kind=TensorProto.FLOAT16)).precision == "float16"
    assert OnnxSide(written(tmp_path, LAYERS, weights())).precision == "float32"


QUANTISED = [
    node("DequantizeLinear", "q scale", "w"),
    node("MatMul", "x w", "m", "/first/MatMul"),
    node("Slice", "f zero two one", "part"),
    node("Transpose", "part", "turned"),
    node("MatMul", "m turned", "y", "/second/MatMul"),
]


def test_layers_left_in_float_are_told_in_a_quantised_model(tmp_path):
    given = {
        "q": RNG.integers(-127, 127, (4, 32)).astype(np.int8),
        "scale": np.float32(0.1),
        "f": numbers(9, 32),
        "zero": np.array([0, 0]),
        "two": np.array([2, 32]),
        "one": np.array([0, 1]),
    }
    side = OnnxSide(written(tmp_path, QUANTISED, given))
    assert side.precision == "int8"
    assert side.quantised == {"first"}
    assert side.left_in_float == ("second",)
    assert [(one.operator, one.bytes) for one in side.float_layers()] == [("MatMul", 9 * 32 * 4)]


def test_weights_are_read_one_by_one(tmp_path):
    given = weights()
    side = OnnxSide(written(tmp_path, LAYERS, given, external=True))
    assert list(side.weights()) == ["w", "b", "v"]
    np.testing.assert_array_equal(side.weights()["w"], given["w"])


def words(folder: Path, nodes, given, shape, **more) -> dict[str, str]:
    side = OnnxSide(written(folder, nodes, given, shape, **more))
    batch = numbers(*(2 if isinstance(n, str) else n for n in shape))
    return {value.name: value.op for value in side.capture((batch,)).values}


def test_a_product_and_its_bias_are_one_linear_layer(tmp_path):
    assert words(tmp_path, LAYERS, weights(), ("n", 4)) == {"m": "matmul", "h": "linear", "r": "relu", "y": "linear"}


def test_images_are_told_by_their_axes(tmp_path):
    nodes = [
        node("Conv", "x k", "c", pads=[1, 1, 1, 1]),
        node("BatchNormalization", "c s s s s", "n"),
        node("MaxPool", "n", "p", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Resize", ["p", "", "up"], ["near"], mode="nearest"),
        helper.make_node("Resize", ["near", "", "up"], ["between"], mode="linear"),
        node("ConvTranspose", "between t", "d"),
        node("GlobalAveragePool", "d", "g"),
        node("Clip", "g", "l"),
        node("Concat", "l l", "y", axis=1),
    ]
    given = {
        "k": numbers(2, 3, 3, 3),
        "s": np.ones(2, np.float32),
        "up": np.float32([1, 1, 2, 2]),
        "t": numbers(2, 5, 2, 2),
    }
    assert list(words(tmp_path, nodes, given, (1, 3, 8, 8)).values()) == [
        "conv2d", "batch_norm", "max_pool2d", "upsample_nearest2d", "upsample_bilinear2d", "conv_transpose2d",
        "adaptive_avg_pool2d", "clamp", "cat",
    ]  # fmt: skip


def test_a_convolution_whose_weights_the_older_exporter_made_anew_holds_the_normalisation(tmp_path):
    nodes = [node("Conv", "x onnx::Conv_12", "y", "/block.0/conv/Conv")]
    side = OnnxSide(written(tmp_path, nodes, {"onnx::Conv_12": numbers(2, 3, 3)}, (1, 3, 8)))
    value = side.capture((numbers(1, 3, 8),)).values[0]
    assert (value.op, value.layer) == ("batch_norm", "block.0.conv")


def test_sequences_have_pytorchs_names(tmp_path):
    nodes = [node("Gather", "table ids", "e"), node("LSTM", "e w r", "l", hidden_size=2), node("Softmax", "l", "s")]
    nodes += [node("Gelu", "s", "g"), node("LayerNormalization", "g one", "n"), node("Add", "n x", "y")]
    given = {"table": numbers(7, 3), "ids": np.array([[1, 2]]), "w": numbers(1, 8, 3), "r": numbers(1, 8, 2)}
    found = words(tmp_path, nodes, {**given, "one": np.ones(2, np.float32)}, (1, 1, 2, 2))
    assert list(found.values()) == ["embedding", "lstm", "softmax", "gelu", "layer_norm", "add"]


def test_values_that_numpy_cannot_hold_are_left_out(tmp_path):
    nodes = [
        node("Relu", "x", "r"),
        node("Cast", "r", "bf", to=TensorProto.BFLOAT16),
        node("SequenceConstruct", "r r", "many"),
        node("SequenceAt", "many zero", "one"),
        node("Cast", "bf", "back", to=FLOAT),
        node("Add", "one back", "y"),
    ]
    side = OnnxSide(written(tmp_path, nodes, {"zero": np.array(0)}))
    assert {"r", "one", "back", "y"} <= {value.name for value in side.capture((numbers(2, 4),)).values}
    assert "many" not in side.capture((numbers(2, 4),)).arrays


def test_one_file_can_be_the_reference_of_another(tmp_path):
    given, batch = weights(), (numbers(3, 4),)
    first = OnnxSide(written(tmp_path, LAYERS, given))
    (tmp_path / "other").mkdir()
    given["v"] = given["v"] * np.float32(1.01)
    other = OnnxSide(written(tmp_path / "other", LAYERS, given))
    assert compare_on(first, first, batch).same
    assert [one.parting.node for one in compare_on(first, other, batch).troubles] == ["y"]
