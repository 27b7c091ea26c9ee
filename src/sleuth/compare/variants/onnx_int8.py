"""The ONNX export quantised to int8 by ONNX Runtime, its activations as they come (dynamic quantisation)."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.values import Array, Batch
from sleuth.compare.variants.onnx_export import exported

if TYPE_CHECKING:
    from sleuth.compare.sides.onnx_ import OnnxSide

_WITHOUT_SHAPES = (
    "onnxruntime's quantize_dynamic fails on the exported file ({reason}); "
    "it was given a copy without its intermediate shapes: del model.graph.value_info[:]"
)
_TURNED = (
    "onnxruntime's quantize_dynamic has transposed the weight {name} once for each of the {uses} layers that share it, "
    "and so left it as it was: give every layer a copy of its own before quantising"
)


def made(side: Side, batch: Batch) -> OnnxSide:
    from sleuth.compare.sides.onnx_ import OnnxSide

    whole = side if isinstance(side, OnnxSide) else exported(side, batch)
    try:
        return quantised(whole, f"{side.title} as onnx-int8")
    finally:
        if whole is not side:
            whole.close()


def quantised(whole: OnnxSide, title: str) -> OnnxSide:
    """A quantised copy of a float model; its notes say what had to be done for it."""
    from sleuth.compare.sides.onnx_ import OnnxSide

    folder = tempfile.TemporaryDirectory(prefix="sleuth-onnx-")
    path = Path(folder.name) / "int8.onnx"
    try:
        notes = _quantise(whole, path)
        result = OnnxSide(path, title, whole)
    except BaseException:
        folder.cleanup()
        raise
    if result.precision != "int8":
        folder.cleanup()
        raise CannotCompare(f"{whole.title}: onnxruntime's quantize_dynamic finds nothing in it to quantise")
    result.keep(folder)
    result.notes = (*notes, *_turned_in_vain(whole, result))
    return result


def _quantise(whole: OnnxSide, path: Path) -> tuple[str, ...]:
    first = _attempt(whole.path, path)
    if first is None:
        return ()
    second = _attempt(_without_shapes(whole, path.with_name("without_shapes.onnx")), path)
    if second is not None:
        raise CannotCompare(f"{whole.title} cannot be quantised by onnxruntime: {first}")
    return (_WITHOUT_SHAPES.format(reason=first),)


def _turned_in_vain(whole: OnnxSide, result: OnnxSide) -> Iterator[str]:
    """A Gemm becomes a MatMul, which wants its weight transposed; one that two share is transposed twice."""
    from sleuth.compare.sides.onnx_shapes import attribute

    uses = Counter(
        node.input[1] for node in whole.model.graph.node if node.op_type == "Gemm" and attribute(node, "transB", 0)
    )
    before, after = whole.weights(), result.weights()
    for name, times in uses.items():
        if times < 2 or name not in before or f"{name}_quantized" not in after:
            continue
        weight, kept = before[name], after[f"{name}_quantized"].astype(np.float32)
        if weight.shape == kept.shape and _alike(kept, weight) > _alike(kept, weight.T):
            yield _TURNED.format(name=name, uses=times)


def _alike(kept: Array, weight: Array) -> float:
    return float((kept * weight).sum())


def _attempt(source: Path, path: Path) -> str | None:
    """What it says where it fails."""
    from onnxruntime.quantization import quantize_dynamic

    with quietly(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            quantize_dynamic(source, path)
        except Exception as problem:
            lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
            return lines[0] if lines else type(problem).__name__
    return None


def _without_shapes(whole: OnnxSide, path: Path) -> Path:
    """A copy in which no shape of an inner value is written down; its weights are in a file apart if they were."""
    import onnx

    bare: Any = onnx.load(str(whole.path))
    del bare.graph.value_info[:]
    outside = any(one.external_data for one in whole.model.graph.initializer)
    onnx.save(bare, str(path), save_as_external_data=outside, location="without_shapes.data")
    return path
