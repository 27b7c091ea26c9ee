"""Every single-node case that the onnx package ships, computed by the imported graph."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper

from sleuth.compare.onnx_import import import_onnx
from sleuth.compare.onnx_import.importing import load_translations
from sleuth.compare.onnx_import.operations import TRANSLATIONS
from sleuth.compare.reference import Reference
from sleuth.compare.side import CannotCompare

# What cannot be the reference, by the name of the case's operation, with the reason.
_NOT_TRANSLATED = {
    "Adagrad": "a training step, not a model",
    "Adam": "a training step, not a model",
    "Momentum": "a training step, not a model",
    "ArrayFeatureExtractor": "classical machine learning, of the ai.onnx.ml domain",
    "Binarizer": "classical machine learning, of the ai.onnx.ml domain",
    "LabelEncoder": "classical machine learning, of the ai.onnx.ml domain",
    "TreeEnsemble": "classical machine learning, of the ai.onnx.ml domain",
    "Bernoulli": "random",
    "BitCast": "reads bits as another type, which float64 has not",
    "DeformConv": "PyTorch has it only in torchvision",
    "ImageDecoder": "reads a file's bytes",
    "MelWeightMatrix": "not written out by the exporters",
    "NonMaxSuppression": "PyTorch has it only in torchvision",
    "RegexFullMatch": "text",
    "RoiAlign": "PyTorch has it only in torchvision",
    "SequenceMap": "sequences as the model's inputs",
    "StringConcat": "text",
    "StringNormalizer": "text",
    "StringSplit": "text",
    "TfIdfVectorizer": "text",
}
# Cases of operations that are translated otherwise.
_NOT_THIS_CASE = {
    "test_bitwise_not_3d": "unsigned integers wider than a byte are kept in int64",
    "test_col2im_5d": "PyTorch's has two dimensions",
    "test_scan_sum": "version 8 of Scan, which has a batch axis",
    "test_training_dropout": "random",
    "test_training_dropout_default": "random",
    "test_training_dropout_default_mask": "random",
    "test_training_dropout_mask": "random",
    "test_optional_get_element_optional_tensor": "an optional value as the model's input",
    "test_optional_has_element_optional_input": "an optional value as the model's input",
    "test_optional_has_element_tensor_input": "an optional value as the model's input",
    "test_quantizelinear_uint16": "unsigned integers wider than a byte are kept in int64",
}
_QUANTISING = {"DynamicQuantizeLinear", "QuantizeLinear", "QLinearConv", "QLinearMatMul"}


@cache
def _cases() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    return [case for case in collect_testcases(None) if len(case.model.graph.node) == 1]


def _arrays(values: Any) -> list[Any] | None:
    """None where one of them is not a tensor of numbers that NumPy has."""
    found = [numpy_helper.to_array(one) if isinstance(one, onnx.TensorProto) else one for one in values]
    if all(isinstance(one, np.ndarray | np.generic) for one in found):
        arrays = [np.asarray(one) for one in found]
        if all(array.dtype.kind in "biuf" and "float8" not in array.dtype.name for array in arrays):
            return arrays
    return None


def _plain(case: Any) -> Iterator[tuple[list[Any], list[Any]]]:
    """Its examples, if they are of plain numbers all the way through."""
    if "bfloat16" in case.name.lower() or case.name.endswith("_bf16"):
        return
    for given, expected in case.data_sets:
        inputs, outputs = _arrays(given), _arrays(expected)
        if inputs is not None and outputs is not None:
            yield inputs, outputs


def _difference(case: Any, inputs: list[Any], expected: list[Any]) -> str:
    """What is wrong, or nothing."""
    # A rounding to whole numbers goes the runtime's way only in the runtime's precision.
    precision = torch.float32 if case.model.graph.node[0].op_type in _QUANTISING else torch.float64
    try:
        results = Reference(import_onnx(case.model, tuple(inputs))).run(tuple(inputs), precision)
        for result, wanted in zip(results, expected, strict=True):
            assert result.shape == wanted.shape, f"{result.shape} is not {wanted.shape}"
            np.testing.assert_allclose(
                result.astype(np.float64), wanted.astype(np.float64), max(case.rtol, 1e-4), max(case.atol, 1e-5)
            )
    except (CannotCompare, AssertionError, ValueError, RuntimeError) as problem:
        return " ".join(str(problem).split())[:200] or type(problem).__name__
    return ""


def test_every_case_of_every_translated_operation_gives_what_onnx_expects() -> None:
    failed, right = [], {}
    for case in _cases():
        op = case.model.graph.node[0].op_type
        if op in _NOT_TRANSLATED or case.name in _NOT_THIS_CASE:
            continue
        for inputs, expected in _plain(case):
            problem = _difference(case, inputs, expected)
            if problem:
                failed.append(f"{case.name}: {problem}")
            else:
                right[op] = right.get(op, 0) + 1
    assert failed == []
    assert len(right) >= 170
    assert sum(right.values()) >= 950


def test_what_is_not_translated_is_refused_in_one_line() -> None:
    for case in _cases():
        op = case.model.graph.node[0].op_type
        if op in _NOT_TRANSLATED or case.name in _NOT_THIS_CASE:
            inputs = _arrays(case.data_sets[0][0])
            with pytest.raises(CannotCompare) as refusal:
                import_onnx(case.model, None if inputs is None else tuple(inputs))
            assert "\n" not in str(refusal.value), case.name
            assert len(str(refusal.value)) < 200, case.name


def test_all_that_is_refused_is_in_the_table() -> None:
    load_translations()
    single = {case.model.graph.node[0].op_type for case in _cases()}
    defined = {
        schema.name
        for schema in onnx.defs.get_all_schemas()
        if schema.has_function or schema.has_context_dependent_function
    }
    assert single - set(TRANSLATIONS) - defined <= set(_NOT_TRANSLATED)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_model_in_either_precision_is_run_in_either(dtype: Any) -> None:
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    node = onnx.helper.make_node("Softmax", ["x"], ["y"], axis=-1)
    graph = onnx.helper.make_graph(
        [node],
        "g",
        [onnx.helper.make_tensor_value_info("x", kind, [2, 3])],
        [onnx.helper.make_tensor_value_info("y", kind, [2, 3])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    array = np.arange(6, dtype=dtype).reshape(2, 3)
    reference = Reference(import_onnx(model, (array,)))
    for precision in (torch.float32, torch.float64):
        (result,) = reference.run((array,), precision)
        np.testing.assert_allclose(result.sum(-1), 1, rtol=1e-6)
        assert torch.from_numpy(result).dtype == precision
