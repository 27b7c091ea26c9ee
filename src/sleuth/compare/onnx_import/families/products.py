"""Matrix products, as linear layers wherever one side is a weight."""

from __future__ import annotations

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation


@operation("MatMul")
def _matmul(b: Builder, s: Step) -> Traced:
    left, right = s.inputs
    if right.constant and not left.constant and right.rank == 2 and left.rank >= 1 and left.floating:
        return b.call(aten.linear.default, left, transposed(b, right))
    return b.call(aten.matmul.default, left, right)


def transposed(b: Builder, weight: Traced) -> Traced:
    return b.keep_name(b.call(aten.t.default, weight), weight)


@operation("Gemm")
def _gemm(b: Builder, s: Step) -> Traced:
    left, right, added = s.inputs[0], s.inputs[1], s.input(2)
    alpha, beta = s.get("alpha", 1.0), s.get("beta", 1.0)
    left = b.call(aten.t.default, left) if s.get("transA", 0) else left
    width = right.shape[0 if s.get("transB", 0) else 1]
    if added is not None and added.constant and added.rank == 2 and added.shape == (1, width):
        added = _flat(b, added)
    if left.floating and alpha == 1.0 and (added is None or (beta == 1.0 and added.shape == (width,))):
        weight = right if s.get("transB", 0) else transposed(b, right)
        return b.call(aten.linear.default, left, weight, added)
    right = b.call(aten.t.default, right) if s.get("transB", 0) else right
    product = _scaled(b, b.call(aten.matmul.default, left, right), alpha)
    return product if added is None else b.call(aten.add.Tensor, product, _scaled(b, added, beta))


def _flat(b: Builder, bias: Traced) -> Traced:
    return b.keep_name(b.call(aten.view.default, bias, [-1]), bias)


def _scaled(b: Builder, value: Traced, factor: float) -> Traced:
    return value if factor == 1.0 else b.call(aten.mul.Tensor, value, factor if value.floating else int(factor))


@operation("Einsum")
def _einsum(b: Builder, s: Step) -> Traced:
    return b.call(aten.einsum.default, s.get("equation").replace(" ", ""), list(s.inputs))
