"""ONNX Runtime's own operations, which its optimiser and its quantiser write."""

from __future__ import annotations

from typing import Any

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.quantisation import quantised, real_of
from sleuth.compare.onnx_import.operations import TRANSLATIONS, Step, operation

_SAME_AS_ONNX = ("Gelu", "QuantizeLinear", "DequantizeLinear", "Trilu", "GridSample", "SimplifiedLayerNormalization")


def _as_in_onnx(name: str) -> Any:
    return lambda b, s: TRANSLATIONS[name](b, s)


TRANSLATIONS.update({f"com.microsoft::{name}": _as_in_onnx(name) for name in _SAME_AS_ONNX})


@operation("com.microsoft::QuickGelu")
def _quick_gelu(b: Builder, s: Step) -> Traced:
    value, alpha = s.inputs[0], s.get("alpha", 1.702)
    return b.call(aten.mul.Tensor, value, b.call(aten.sigmoid.default, b.call(aten.mul.Tensor, value, alpha)))


@operation("com.microsoft::FastGelu")
def _fast_gelu(b: Builder, s: Step) -> Traced:
    value = b.call(aten.add.Tensor, s.inputs[0], s.inputs[1]) if s.has(1) else s.inputs[0]
    return b.call(aten.gelu.default, value, approximate="tanh")


@operation("com.microsoft::BiasGelu")
def _bias_gelu(b: Builder, s: Step) -> Traced:
    return b.call(aten.gelu.default, b.call(aten.add.Tensor, s.inputs[0], s.inputs[1]))


@operation("com.microsoft::FusedMatMul")
def _fused_matmul(b: Builder, s: Step) -> Traced:
    if s.get("transBatchA", 0) or s.get("transBatchB", 0):
        raise s.refuse("with its batch transposed")
    left, right = s.inputs
    left = b.call(aten.transpose.int, left, -1, -2) if s.get("transA", 0) else left
    right = b.call(aten.transpose.int, right, -1, -2) if s.get("transB", 0) else right
    product = b.call(aten.matmul.default, left, right)
    return product if s.get("alpha", 1.0) == 1.0 else b.call(aten.mul.Tensor, product, s.get("alpha"))


@operation("com.microsoft::FusedConv", "com.microsoft::FusedGemm")
def _with_activation(b: Builder, s: Step) -> Any:
    name = s.get("activation", "Relu")
    if (s.op == "FusedConv" and s.has(3)) or name not in ("Relu", "Sigmoid", "Tanh", "LeakyRelu"):
        raise s.refuse(f"with {name} and a sum")
    result = TRANSLATIONS[s.op.removeprefix("Fused")](b, s)
    slope = (s.get("activation_params") or [s.get("activation_alpha", 0.01)])[0]
    inner = Step(name, s.name, [result], s.outputs, s.opset, {"alpha": slope}, builder=b)
    return TRANSLATIONS[name](b, inner)


@operation("com.microsoft::SkipLayerNormalization", "com.microsoft::SkipSimplifiedLayerNormalization")
def _skip_norm(b: Builder, s: Step) -> list[Any]:
    """A sum, then a norm; the fourth result is the sum."""
    rms = s.op != "SkipLayerNormalization"
    bias, more = (None, s.input(3)) if rms else (s.input(3), s.input(4))
    total = b.call(aten.add.Tensor, s.inputs[0], s.inputs[1])
    total = total if more is None else b.call(aten.add.Tensor, total, more)
    shape, eps = [total.shape[-1]], s.get("epsilon", 1e-12)
    if rms:
        result = b.call(aten.rms_norm.default, total, shape, s.inputs[2], eps)
    else:
        result = b.call(aten.layer_norm.default, total, shape, s.inputs[2], bias, eps, False)
    return [result, None, None, total]


@operation("com.microsoft::QLinearAdd", "com.microsoft::QLinearMul")
def _quantised_pair(b: Builder, s: Step) -> Traced:
    left, left_scale, left_zero, right, right_scale, right_zero, scale = s.inputs[:7]
    target = aten.add.Tensor if s.op == "QLinearAdd" else aten.mul.Tensor
    both = real_of(b, s, left, left_scale, left_zero, 0), real_of(b, s, right, right_scale, right_zero, 0)
    return quantised(b, s, b.call(target, *both), scale, s.inputs[7])


@operation("com.microsoft::QLinearSigmoid", "com.microsoft::QLinearLeakyRelu")
def _quantised_curve(b: Builder, s: Step) -> Traced:
    value, scale, zero, new_scale, new_zero = s.inputs
    real = real_of(b, s, value, scale, zero, 0)
    if s.op == "QLinearSigmoid":
        return quantised(b, s, b.call(aten.sigmoid.default, real), new_scale, new_zero)
    return quantised(b, s, b.call(aten.leaky_relu.default, real, s.get("alpha", 0.01)), new_scale, new_zero)


@operation("com.microsoft::QLinearConcat")
def _quantised_concat(b: Builder, s: Step) -> Traced:
    scale, zero, *parts = s.inputs
    triples = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    reals = [real_of(b, s, part, its_scale, its_zero, 0) for part, its_scale, its_zero in triples]
    return quantised(b, s, b.call(aten.cat.default, reals, s.get("axis")), scale, zero)


@operation("com.microsoft::QLinearGlobalAveragePool")
def _quantised_global_pool(b: Builder, s: Step) -> Traced:
    if s.get("channels_last", 0):
        raise s.refuse("with the channels last")
    value, scale, zero, new_scale, new_zero = s.inputs
    real = real_of(b, s, value, scale, zero, 0)
    return quantised(b, s, b.call(aten.mean.dim, real, list(range(2, value.rank)), True), new_scale, new_zero)


@operation("com.microsoft::QGemm")
def _quantised_gemm(b: Builder, s: Step) -> Traced:
    left, left_scale, left_zero, right, right_scale, right_zero = s.inputs[:6]
    first = real_of(b, s, left, left_scale, left_zero, 0)
    second = real_of(b, s, right, right_scale, right_zero, 0 if s.get("transB", 0) else 1)
    added = None
    if s.has(6):
        step = b.call(aten.mul.Tensor, left_scale, right_scale)
        added = b.call(aten.mul.Tensor, b.call(aten.to.dtype, s.inputs[6], b.real), step)
    product = TRANSLATIONS["Gemm"](
        b, Step("Gemm", s.name, [first, second, added], [], s.opset, s.attributes, builder=b)
    )
    return quantised(b, s, product, s.inputs[7], s.input(8)) if s.has(7) else product


@operation("com.microsoft::DynamicQuantizeMatMul", "com.microsoft::MatMulIntegerToFloat")
def _matmul_to_real(b: Builder, s: Step) -> Traced:
    if s.op == "DynamicQuantizeMatMul":
        value, right, right_scale, right_zero, bias = [s.input(place) for place in range(5)]
        rounded = TRANSLATIONS["DynamicQuantizeLinear"](b, Step("DynamicQuantizeLinear", "", [value], [], s.opset))
        left, left_scale, left_zero = rounded
    else:
        left, right, left_scale, right_scale, left_zero, right_zero, bias = [s.input(place) for place in range(7)]
    first = real_of(b, s, left, left_scale, left_zero, 0)
    product = b.call(aten.matmul.default, first, real_of(b, s, right, right_scale, right_zero, -1))
    return product if bias is None else b.call(aten.add.Tensor, product, bias)
