"""ONNX Runtime's own operations and quantised models, against ONNX Runtime itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import onnxruntime.quantization
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from sleuth.compare.onnx_import import import_onnx
from sleuth.compare.reference import Reference, op_of
from sleuth.compare.side import CannotCompare

_TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.uint8): TensorProto.UINT8}


def _real(*shape: int, shift: float = 0.0) -> Any:
    return np.sin(np.arange(np.prod(shape)) * 0.7 + shift).reshape(shape).astype(np.float32)


def _whole(*shape: int, kind: Any = np.uint8) -> Any:
    return (np.arange(np.prod(shape)) * 37 % 101).reshape(shape).astype(kind)


def _scale(number: float) -> Any:
    return np.float32(number)


def _zero(number: int, kind: Any = np.uint8) -> Any:
    return kind(number)


def _model(op: str, inputs: list[Any], attributes: dict[str, Any], outputs: int = 1) -> Any:
    """The first is the model's input, the rest are weights."""
    names = [f"i{place}" if one is not None else "" for place, one in enumerate(inputs)]
    results = ["y", "", "", "sum"][:outputs]
    node = helper.make_node(op, names, results, domain="com.microsoft", **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("i0", _TYPES[inputs[0].dtype], list(inputs[0].shape))],
        [onnx.ValueInfoProto(name=name) for name in results if name],
        [
            numpy_helper.from_array(np.asarray(one), name)
            for one, name in zip(inputs[1:], names[1:], strict=True)
            if name
        ],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _run(model: Any, array: Any) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, {session.get_inputs()[0].name: array}))


_ROW = [_real(2, 3, 4), _real(2, 3, 4, shift=1), _real(4, shift=2)]
_QUANTISED = [_whole(2, 4), _scale(0.02), _zero(90)]
_OTHER = [_whole(2, 4)[::-1].copy(), _scale(0.03), _zero(100)]
_NEW = [_scale(0.05), _zero(110)]
_CASES: list[tuple[str, list[Any], dict[str, Any], int]] = [
    ("Gelu", [_real(3, 4)], {}, 1),
    ("QuickGelu", [_real(3, 4)], {"alpha": 1.5}, 1),
    ("FastGelu", [_real(3, 4), _real(4, shift=1)], {}, 1),
    ("BiasGelu", [_real(3, 4), _real(4, shift=1)], {}, 1),
    ("FusedMatMul", [_real(2, 4, 3), _real(2, 5, 4)], {"transA": 1, "transB": 1, "alpha": 0.5}, 1),
    ("FusedConv", [_real(1, 2, 5, 5), _real(3, 2, 3, 3), _real(3)], {"activation": "Relu", "pads": [1, 1, 1, 1]}, 1),
    (
        "FusedGemm",
        [_real(3, 4), _real(5, 4), _real(5)],
        {"activation": "LeakyRelu", "activation_alpha": 0.2, "transB": 1},
        1,
    ),
    ("SkipLayerNormalization", [*_ROW, _real(4), _real(4, shift=3)], {"epsilon": 1e-3}, 4),
    ("SkipSimplifiedLayerNormalization", _ROW, {"epsilon": 1e-3}, 4),
    ("QLinearAdd", [*_QUANTISED, *_OTHER, *_NEW], {}, 1),
    ("QLinearMul", [*_QUANTISED, *_OTHER, *_NEW], {}, 1),
    ("QLinearSigmoid", [*_QUANTISED, _scale(1 / 256), _zero(0)], {}, 1),
    ("QLinearLeakyRelu", [*_QUANTISED, *_NEW], {"alpha": 0.3}, 1),
    ("QLinearGlobalAveragePool", [_whole(1, 2, 3, 3), _scale(0.02), _zero(40), *_NEW], {"channels_last": 0}, 1),
    ("QGemm", [*_QUANTISED, _whole(3, 4), _scale(0.02), _zero(50), _whole(3, kind=np.int32), *_NEW], {"transB": 1}, 1),
    ("DynamicQuantizeMatMul", [_real(3, 4), _whole(4, 5), _scale(0.02), _zero(50), _real(5)], {}, 1),
    ("MatMulIntegerToFloat", [_whole(3, 4), _whole(4, 5), _scale(0.1), _scale(0.02), _zero(9), _zero(50)], {}, 1),
]


@pytest.mark.parametrize(("op", "inputs", "attributes", "outputs"), _CASES, ids=[case[0] for case in _CASES])
def test_an_operation_of_the_runtimes_own_is_computed_as_it_does(
    op: str, inputs: list[Any], attributes: dict[str, Any], outputs: int
) -> None:
    model = _model(op, inputs, attributes, outputs)
    results = Reference(import_onnx(model, (inputs[0],))).run((inputs[0],), torch.float32)
    for result, wanted in zip(results, _run(model, inputs[0]), strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


def test_an_operation_that_only_has_onnxs_name_is_not_taken_for_it() -> None:
    model = _model("Attention", [_real(1, 3, 4), _real(4, 12), _real(12)], {"num_heads": 2})
    with pytest.raises(CannotCompare, match=r"com\.microsoft::Attention, which has no translation"):
        import_onnx(model, (_real(1, 3, 4),))


class _Readings(onnxruntime.quantization.CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, array: Any) -> None:
        self._left = [{"x": array}]

    def get_next(self) -> Any:
        return self._left.pop() if self._left else None


@pytest.mark.parametrize("how", ["dynamic", "QDQ", "QOperator"])
def test_a_quantised_model_is_computed_as_the_runtime_does(how: str, tmp_path: Path) -> None:
    from onnxruntime.quantization import QuantFormat, quantize_dynamic, quantize_static

    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5)).eval()
    array = _real(2, 2, 4, 4)
    whole, small = str(tmp_path / "whole.onnx"), str(tmp_path / "small.onnx")
    torch.onnx.export(model, (torch.from_numpy(array),), whole, dynamo=False, opset_version=17, input_names=["x"])
    if how == "dynamic":
        quantize_dynamic(whole, small)
    else:
        quantize_static(whole, small, _Readings(array), quant_format=QuantFormat[how])
    loaded = onnx.load(small)
    graph = import_onnx(loaded, (array,))
    assert "round" in [op_of(node) for node in graph.graph.nodes]
    (result,) = Reference(graph).run((array,), torch.float32)
    np.testing.assert_allclose(result, _run(loaded, array)[0], rtol=1e-5, atol=1e-6)
