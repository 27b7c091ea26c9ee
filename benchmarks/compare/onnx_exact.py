"""An ONNX model in float64, by ONNX's own reference evaluator: what a fault changes when rounding plays no part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

Array = NDArray[Any]


def outputs(model: Any, batch: tuple[Array, ...]) -> list[Array]:
    """The outputs of the model with all its float32 numbers as float64; casts to shorter types stay as they are."""
    evaluator = ReferenceEvaluator(widened(model), new_ops=[LSTM, GRU])
    names = [one.name for one in model.graph.input]
    arrays = (array.astype(np.float64) if array.dtype.kind == "f" else array for array in batch)
    return [np.asarray(one) for one in evaluator.run(None, dict(zip(names, arrays, strict=True)))]


def change(before: list[Array], after: list[Array]) -> float:
    """How much the outputs moved: rms of the difference over rms of the outputs, the largest of all outputs."""
    with np.errstate(all="ignore"):
        pairs = zip(before, after, strict=True)
        moved = [np.linalg.norm(b - a) / max(float(np.linalg.norm(a)), 1e-300) for a, b in pairs]
    return float(max(moved)) if np.isfinite(moved).all() else float("inf")


def widened(model: Any) -> Any:
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    graph = wide.graph
    del graph.value_info[:]
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for value in (*graph.input, *graph.output):
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = TensorProto.DOUBLE
    for node in graph.node:
        for attribute in node.attribute:
            _widen(node.op_type, attribute)
    return wide


def _widen(op: str, attribute: Any) -> None:
    if op == "Cast" and attribute.name == "to" and attribute.i == TensorProto.FLOAT:
        attribute.i = TensorProto.DOUBLE
    if attribute.type == onnx.AttributeProto.TENSOR and attribute.t.data_type == TensorProto.FLOAT:
        attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float64)))
    if op == "Constant" and attribute.name == "value_float":
        attribute.CopyFrom(helper.make_attribute("value", numpy_helper.from_array(np.float64(attribute.f))))


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "Sigmoid": _sigmoid,
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "Softsign": lambda x: x / (1 + np.abs(x)),
}


def _directions(direction: str) -> list[bool]:
    """Whether each goes backwards."""
    return {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]


class LSTM(OpRun):  # type: ignore[misc]
    """ONNX's evaluator has it in one direction only."""

    op_domain = ""

    def _run(self, x, w, r, b=None, lengths=None, h0=None, c0=None, p=None, **given):  # type: ignore[no-untyped-def]
        ways = _directions(_word(given.get("direction"), "forward"))
        acts = given.get("activations") or ["Sigmoid", "Tanh", "Tanh"] * len(ways)
        along, hs, cs = [], [], []
        for d, back in enumerate(ways):
            f, g, e = (_ACTIVATIONS[name] for name in acts[3 * d : 3 * d + 3])
            size = r.shape[2]
            bias = np.zeros(4 * size) if b is None else b[d][: 4 * size] + b[d][4 * size :]
            h = np.zeros((x.shape[1], size)) if h0 is None else h0[d]
            c = np.zeros((x.shape[1], size)) if c0 is None else c0[d]
            seen = []
            for step in x[::-1] if back else x:
                i, o, forget, cell = np.split(step @ w[d].T + h @ r[d].T + bias, 4, -1)
                c = f(forget) * c + f(i) * g(cell)
                h = f(o) * e(c)
                seen.append(h)
            along.append(np.stack(seen[::-1] if back else seen))
            hs.append(h)
            cs.append(c)
        return np.stack(along, 1), np.stack(hs), np.stack(cs)


class GRU(OpRun):  # type: ignore[misc]
    """ONNX's evaluator has it in one direction only."""

    op_domain = ""

    def _run(self, x, w, r, b=None, lengths=None, h0=None, **given):  # type: ignore[no-untyped-def]
        ways = _directions(_word(given.get("direction"), "forward"))
        acts = given.get("activations") or ["Sigmoid", "Tanh"] * len(ways)
        along, hs = [], []
        for d, back in enumerate(ways):
            f, g = (_ACTIVATIONS[name] for name in acts[2 * d : 2 * d + 2])
            size = r.shape[2]
            wb, rb = np.split(np.zeros(6 * size) if b is None else b[d], 2)
            h = np.zeros((x.shape[1], size)) if h0 is None else h0[d]
            seen = []
            for step in x[::-1] if back else x:
                zx, rx, nx = np.split(step @ w[d].T + wb, 3, -1)
                zh, rh, _ = np.split(h @ r[d].T + rb, 3, -1)
                z, reset = f(zx + zh), f(rx + rh)
                rn, bn = r[d][2 * size :].T, rb[2 * size :]
                inner = reset * (h @ rn + bn) if given.get("linear_before_reset") else (reset * h) @ rn + bn
                h = (1 - z) * g(nx + inner) + z * h
                seen.append(h)
            along.append(np.stack(seen[::-1] if back else seen))
            hs.append(h)
        return np.stack(along, 1), np.stack(hs)


def _word(value: Any, default: str) -> str:
    return value.decode() if isinstance(value, bytes) else str(value or default)
