"""Branches, loops, functions and constants of ONNX graphs, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

from sleuth.compare.onnx_import import import_onnx
from sleuth.compare.reference import Reference, op_of
from sleuth.compare.side import CannotCompare

_FLOAT = TensorProto.FLOAT
_X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)


def _info(name: str, shape: list[Any] | None = None, kind: int = _FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def _model(
    nodes: list[Any], weights: dict[str, Any] | None = None, outputs: tuple[str, ...] = ("y",), **more: Any
) -> Any:
    graph = helper.make_graph(
        nodes,
        "graph",
        more.pop("inputs", [_info("x", ["batch", 4])]),
        [_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()],
    )
    opsets = [helper.make_opsetid("", more.pop("opset", 17)), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9, **more)


def _text(source: str) -> Any:
    return onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{source}')


def _ops(graph: Any) -> list[str]:
    return [op_of(node) for node in graph.graph.nodes if node.op == "call_function"]


def _as_the_runtime(model: Any, *batch: Any) -> Any:
    """Imported, and found to compute what ONNX Runtime does."""
    graph = import_onnx(model, batch)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, {one.name: array for one, array in zip(session.get_inputs(), batch, strict=True)})
    for result, expected in zip(Reference(graph).run(batch, torch.float64), wanted, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    return graph


def test_a_shape_that_is_computed_becomes_a_plain_one() -> None:
    model = _text("""
        g (float[n, 4] x) => (float[m, k] y) <int64[1] two = {2}, int64[1] rest = {-1}, int64 zero = {0}> {
            s = Shape(x)  n = Gather(s, zero)  axis = Constant<value_ints = [0]>()  m = Unsqueeze(n, axis)
            twice = Mul(m, two)  shape = Concat<axis = 0>(twice, rest)  y = Reshape(x, shape)
        }""")
    graph = _as_the_runtime(model, _X)
    assert _ops(graph) == ["reshape"]
    assert graph.meta["batch_bound"] == []


def test_a_branch_whose_condition_is_known_is_written_out() -> None:
    model = _text("""
        g (float[n, 4] x) => (float[n, 4] y) {
            s = Size(x)  many = Constant<value_int = 5>()  c = Greater(s, many)
            y = If(c) <then_branch = t () => (float[n, 4] a) { a = Relu(x) },
                       else_branch = e () => (float[n, 4] b) { b = Neg(x) }>
        }""")
    assert _ops(_as_the_runtime(model, _X)) == ["relu"]
    assert _ops(_as_the_runtime(model, _X[:1])) == ["neg"]


def test_a_branch_that_hangs_on_the_numbers_is_said_to_hold_for_the_batch_alone() -> None:
    model = _text("""
        g (float[n, 4] x) => (float[n, 4] y) {
            total = ReduceSum<keepdims = 0>(x)  zero = Constant<value_float = 0.0>()  c = Greater(total, zero)
            y = If(c) <then_branch = t () => (float[n, 4] a) { a = Relu(x) },
                       else_branch = e () => (float[n, 4] b) { b = Neg(x) }>
        }""")
    graph = _as_the_runtime(model, _X + 1)
    assert _ops(graph) == ["relu"]
    assert graph.meta["batch_bound"] == ["If takes its condition from computed numbers"]


def test_a_loop_is_written_out_turn_by_turn() -> None:
    model = _text("""
        g (float[n, 4] x) => (float[n, 4] y, float[k, n, 4] all) <int64 times = {3}> {
            going = Constant<value = bool {1}>()
            y, all = Loop(times, going, x) <body = b (int64 i, bool c, float[n, 4] h)
                                                   => (bool c2, float[n, 4] h2, float[n, 4] o) {
                c2 = Identity(c)  h2 = Tanh(h)  o = Add(h2, x)
            }>
        }""")
    assert _ops(_as_the_runtime(model, _X)) == ["tanh", "add"] * 3 + ["stack"]


def test_a_function_is_written_out_with_its_attributes() -> None:
    body = [helper.make_node("LeakyRelu", ["a"], ["h"]), helper.make_node("Neg", ["h"], ["b"])]
    body[0].attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    function = helper.make_function(
        "own", "Curve", ["a"], ["b"], body, [helper.make_opsetid("", 17)], attributes=["slope"]
    )
    calls = [
        helper.make_node("Curve", ["x"], ["h"], "net/first/Curve", domain="own", slope=0.3),
        helper.make_node("Curve", ["h"], ["y"], "net/second/Curve", domain="own", slope=0.1),
    ]
    graph = _as_the_runtime(_model(calls, functions=[function]), _X)
    assert [node.args[1] for node in graph.graph.nodes if op_of(node) == "leaky_relu"] == [0.3, 0.1]
    assert Reference(graph).names[-1] == "y"
    assert {Reference(graph).value(name).layer for name in ("h", "y")} == {"net/first", "net/second"}


def test_numbers_are_as_they_were_written_before_float32_took_them() -> None:
    node = helper.make_node("LayerNormalization", ["x", "w"], ["y"], epsilon=1e-5)
    graph = import_onnx(_model([node], {"w": np.ones(4, np.float32)}), (_X,))
    assert next(one for one in graph.graph.nodes if op_of(one) == "layer_norm").args[4] == 1e-5
    node = helper.make_node("Mul", ["x", "c"], ["y"])
    graph = import_onnx(_model([node], {"c": np.float32(0.1)}), (_X,))
    assert next(one for one in graph.graph.nodes if op_of(one) == "mul").args[1] == 0.1


def test_a_product_with_a_weight_and_a_bias_is_a_linear_layer_by_the_weights_name() -> None:
    nodes = [helper.make_node("MatMul", ["x", "fc/kernel:0"], ["h"]), helper.make_node("Add", ["fc.bias", "h"], ["y"])]
    weights = {"fc/kernel:0": np.ones((4, 2), np.float32), "fc.bias": np.ones(2, np.float32)}
    reference = Reference(_as_the_runtime(_model(nodes, weights), _X))
    assert reference.names == ["x", "y"]
    assert reference.value("y").op == "linear"
    assert {name: array.shape for name, array in reference.weights().items()} == {
        "fc_kernel_0": (2, 4),
        "fc.bias": (2,),
    }


def test_a_weight_keeps_its_name_when_it_is_turned_about_or_called_otherwise() -> None:
    nodes = [
        helper.make_node("Transpose", ["fc.weight"], ["turned"]),
        helper.make_node("Identity", ["turned"], ["other"]),
        helper.make_node("MatMul", ["x", "other"], ["y"]),
    ]
    weight = np.arange(8, dtype=np.float32).reshape(2, 4)
    reference = Reference(_as_the_runtime(_model(nodes, {"fc.weight": weight}), _X))
    assert list(reference.weights()) == ["fc.weight"]
    np.testing.assert_array_equal(reference.weights()["fc.weight"], weight)


def test_weights_whose_names_are_parts_of_others_are_kept_apart() -> None:
    nodes = [helper.make_node("Add", ["x", "a"], ["h"]), helper.make_node("Mul", ["h", "a.b"], ["y"])]
    weights = {"a.b": _X[0], "a": _X[1]}
    assert set(Reference(_as_the_runtime(_model(nodes, weights), _X)).weights()) == {"a", "a_b_1"}


def test_weights_beside_the_models_file_are_read(tmp_path: Path) -> None:
    model = _model([helper.make_node("Add", ["x", "w"], ["y"])], {"w": _X[0]})
    onnx.save(model, str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.bin", size_threshold=0)
    apart = onnx.load(str(tmp_path / "m.onnx"), load_external_data=False)
    (result,) = Reference(import_onnx(apart, (_X,), str(tmp_path))).run((_X,), torch.float32)
    np.testing.assert_allclose(result, _X + _X[0])
    assert _refused(apart, _X).startswith("the weight w of the ONNX model cannot be read: ")


def test_a_value_that_is_asked_for_is_not_put_into_a_whole() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Add", ["h", "b"], ["y"])]
    weights = {"w": np.ones((4, 2), np.float32), "b": np.ones(2, np.float32)}
    assert _ops(_as_the_runtime(_model(nodes, weights, ("h", "y")), _X)) == ["linear", "add"]


def test_a_gelu_with_another_constant_stays_what_it_is() -> None:
    def gelu(root: float) -> Any:
        source = f"""
            g (float[n, 4] x) => (float[n, 4] y) <float r = {{{root}}}, float one = {{1.0}}, float half = {{0.5}}> {{
                d = Div(x, r)  e = Erf(d)  a = Add(e, one)  m = Mul(x, a)  y = Mul(m, half)
            }}"""
        return _ops(_as_the_runtime(_text(source), _X))

    assert gelu(1.4142135) == ["gelu"]
    assert gelu(1.42) == ["div", "erf", "add", "mul", "mul"]


@pytest.mark.parametrize(
    ("root", "whole"),
    [
        ("s = Sqrt(e)  n = Div(x, s)", "rms_norm"),
        ("s = Sqrt(e)  r = Reciprocal(s)  n = Mul(r, x)", "rms_norm"),
        ("s = Sqrt(e)  r = Div(one, s)  n = Mul(x, r)", "rms_norm"),
    ],
)
def test_an_rms_norm_is_whole_again_however_its_root_is_written(root: str, whole: str) -> None:
    model = _text(f"""
        g (float[n, 4] x) => (float[n, 4] y)
        <float[4] w = {{1.0, 2.0, 3.0, 4.0}}, float two = {{2.0}}, float eps = {{0.001}}, float one = {{1.0}}> {{
            p = Pow(x, two)  v = ReduceMean<axes = [-1]>(p)  e = Add(v, eps)  {root}  y = Mul(n, w)
        }}""")
    graph = _as_the_runtime(model, _X)
    assert _ops(graph) == [whole]
    node = next(one for one in graph.graph.nodes if op_of(one) == whole)
    assert node.args[3] == 0.001


@pytest.mark.parametrize(
    ("mask", "ops"),
    [
        ("{0, -inf, 0, 0}", ["scaled_dot_product_attention"]),
        ("{0, 1, 2, 3}", ["scaled_dot_product_attention"]),
        ("{-inf, -inf, 0, 0}", ["permute", "matmul", "mul", "add", "softmax", "matmul"]),
    ],
)
def test_attention_is_whole_again_unless_its_mask_shuts_out_everything(mask: str, ops: list[str]) -> None:
    model = _text("""
        g (float[b, 2, 4] x) => (float[b, 2, 4] y) <float s = {0.5}> {
            m = Constant<value = float[2, 2] {0, 0, 0, 0}>()
            k = Transpose<perm = [0, 2, 1]>(x)  p = MatMul(x, k)  t = Mul(p, s)  a = Add(t, m)
            w = Softmax<axis = -1>(a)  y = MatMul(w, x)
        }""")
    numbers = np.array([float(one) for one in mask.strip("{}").split(",")], np.float32).reshape(2, 2)
    model.graph.node[0].attribute[0].t.CopyFrom(numpy_helper.from_array(numbers))
    graph = _as_the_runtime(model, _X.reshape(1, 3, 4)[:, :2].copy())
    assert _ops(graph) == ops
    causal = [node.args[5] for node in graph.graph.nodes if op_of(node) == "scaled_dot_product_attention"]
    assert any(causal) == (mask == "{0, -inf, 0, 0}")


def test_a_padding_that_differs_from_side_to_side_is_an_operation_of_its_own() -> None:
    node = helper.make_node("Conv", ["x", "w"], ["y"], auto_pad="SAME_UPPER", strides=[2, 2])
    weights = {"w": np.linspace(-1, 1, 9, dtype=np.float32).reshape(1, 1, 3, 3)}
    model = _model([node], weights, inputs=[_info("x", [1, 1, 6, 6])])
    image = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)
    assert _ops(_as_the_runtime(model, image)) == ["pad", "conv2d"]


def test_without_a_batch_the_declared_shapes_serve() -> None:
    graph = import_onnx(_model([helper.make_node("Flatten", ["x"], ["y"], axis=0)]))
    (result,) = Reference(graph).run((np.ones((2, 4), np.float32),), torch.float32)
    assert result.shape == (1, 8)


def _refused(model: Any, *batch: Any) -> str:
    with pytest.raises(CannotCompare) as refusal:
        import_onnx(model, batch)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def test_an_unknown_operation_is_named() -> None:
    node = helper.make_node("Strange", ["x"], ["y"], domain="own")
    told = _refused(_model([node]), _X)
    assert told == "the model uses the ONNX operation own::Strange, which has no translation to PyTorch"


def test_a_model_that_draws_random_numbers_is_refused() -> None:
    told = _refused(_model([helper.make_node("RandomNormalLike", ["x"], ["y"])]), _X)
    assert told == (
        "the model uses the ONNX operation RandomNormalLike, which draws random numbers, so no two runs are alike"
    )


def test_a_wrong_number_of_inputs_is_told() -> None:
    assert _refused(_model([helper.make_node("Relu", ["x"], ["y"])]), _X, _X) == (
        "the ONNX model takes 1 inputs, and was given 2"
    )


def test_an_input_that_does_not_fit_is_told_with_the_operation() -> None:
    model = _model([helper.make_node("MatMul", ["x", "w"], ["y"], name="fc")], {"w": np.ones((5, 2), np.float32)})
    assert _refused(model, _X).startswith("the ONNX operation MatMul (fc) cannot be computed on this input: ")
