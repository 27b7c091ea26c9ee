"""Sampling of images at computed places."""

from __future__ import annotations

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation

_MODES = {"linear": 0, "bilinear": 0, "nearest": 1, "cubic": 2, "bicubic": 2}
_PADDINGS = {"zeros": 0, "border": 1, "reflection": 2}


@operation("GridSample")
def _grid_sample(b: Builder, s: Step) -> Traced:
    value, grid = s.inputs
    mode = _MODES[s.get("mode", "linear")]
    if value.rank > 5 or (value.rank == 5 and mode == 2):
        raise s.refuse(f"over {value.rank - 2} dimensions")
    edges = _PADDINGS[s.get("padding_mode", "zeros")]
    return b.call(aten.grid_sampler.default, value, grid, mode, edges, bool(s.get("align_corners", 0)))


@operation("AffineGrid")
def _affine_grid(b: Builder, s: Step) -> Traced:
    return b.call(aten.affine_grid_generator.default, s.inputs[0], s.ints(1), bool(s.get("align_corners", 0)))
