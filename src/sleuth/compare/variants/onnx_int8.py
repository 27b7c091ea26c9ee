"""The ONNX export quantised to int8 by ONNX Runtime, its activations as they come (dynamic quantisation)."""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.values import Array, Batch
from sleuth.compare.variants.onnx_export import exported

if TYPE_CHECKING:
    from sleuth.compare.sides.onnx_ import OnnxSide

# What one file of this format can hold.
_ONE_FILE = 1_900_000_000
_FAILS = "onnxruntime's quantize_dynamic fails on the exported file ({reason}); it was given a copy {remedy}"
_WITHOUT_SHAPES = "without its intermediate shapes: del model.graph.value_info[:]"
_WITH_COPIES = f"in which every layer has its own copy of a weight that it shared, and {_WITHOUT_SHAPES}"
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
    folder = tempfile.TemporaryDirectory(prefix="sleuth-onnx-")
    path = Path(folder.name) / "int8.onnx"
    try:
        notes = (*_quantise(whole, path), *_turned_in_vain(whole, path))
        result = _opened(path, title, whole, notes)
    except BaseException:
        folder.cleanup()
        raise
    result.keep(folder)
    result.notes = result.defects = notes
    return result


def _opened(path: Path, title: str, whole: OnnxSide, notes: Sequence[str]) -> OnnxSide:
    from sleuth.compare.sides.onnx_ import OnnxSide

    try:
        result = OnnxSide(path, title, whole)
    except CannotCompare as problem:
        raise CannotCompare("; ".join([str(problem), *notes])) from None
    if result.precision != "int8":
        raise CannotCompare(f"{whole.title}: onnxruntime's quantize_dynamic finds nothing in it to quantise")
    return result


def _quantise(whole: OnnxSide, path: Path) -> tuple[str, ...]:
    """As it is, or else with as little mended as lets it through."""
    large = whole.size > _ONE_FILE
    reason = _attempt(whole.path, path, large)
    if reason is None:
        return ()
    for remedy, apart in ((_WITHOUT_SHAPES, False), (_WITH_COPIES, True)):
        if _attempt(_mended(whole, path.with_name("mended.onnx"), apart), path, large) is None:
            return (_FAILS.format(reason=reason, remedy=remedy),)
    raise CannotCompare(f"{whole.title} cannot be quantised by onnxruntime: {reason}")


def _turned_in_vain(whole: OnnxSide, path: Path) -> Iterator[str]:
    """A Gemm becomes a MatMul, which wants its weight transposed; one that two share is transposed twice."""
    from sleuth.compare.sides.onnx_reading import Weights, folder_of, read
    from sleuth.compare.sides.onnx_shapes import attribute

    turning = [node for node in whole.model.graph.node if node.op_type == "Gemm" and attribute(node, "transB", 0)]
    uses = Counter(node.input[1] for node in turning)
    before, after = whole.weights(), Weights(read(path).graph, folder_of(path))
    for name, times in uses.items():
        if times < 2 or name not in before or f"{name}_quantized" not in after:
            continue
        weight, kept = before[name], after[f"{name}_quantized"].astype(np.float32)
        if weight.shape == kept.shape and (kept.T.shape != kept.shape or _alike(kept, weight) > _alike(kept, weight.T)):
            yield _TURNED.format(name=name, uses=times)


def _alike(kept: Array, weight: Array) -> float:
    return float((kept * weight).sum())


def _attempt(source: Path, path: Path, large: bool) -> str | None:
    """What it says where it fails."""
    from onnxruntime.quantization import quantize_dynamic

    with quietly(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            quantize_dynamic(source, path, use_external_data_format=large)
        except Exception as problem:
            lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
            return lines[0] if lines else type(problem).__name__
    return None


def _mended(whole: OnnxSide, path: Path, apart: bool) -> Path:
    """A copy in which no shape of an inner value is written down; its weights are in a file apart if they were."""
    import onnx

    bare: Any = onnx.load(str(whole.path))
    del bare.graph.value_info[:]
    if apart:
        _give_copies(bare.graph)
    outside = any(one.external_data for one in whole.model.graph.initializer)
    onnx.save(bare, str(path), save_as_external_data=outside, location="mended.data")
    return path


def _give_copies(graph: Any) -> None:
    """Of a weight that several layers multiply by, one for each."""
    weights = {one.name: one for one in graph.initializer if len(one.dims) > 1}
    seen: Counter[str] = Counter()
    for node in graph.node:
        if node.op_type not in ("Gemm", "MatMul") or node.input[1] not in weights:
            continue
        name = node.input[1]
        seen[name] += 1
        if seen[name] > 1:
            node.input[1] = f"{name}.{seen[name]}"
            graph.initializer.add().CopyFrom(weights[name])
            graph.initializer[-1].name = node.input[1]
