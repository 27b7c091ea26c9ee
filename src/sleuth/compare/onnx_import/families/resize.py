"""Images made larger or smaller: PyTorch's own operation where it does the same, else weighted sums along the axes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.families.interpolation import places, weights
from sleuth.compare.onnx_import.operations import Step, operation

_LINEAR = {1: aten.upsample_linear1d.vec, 2: aten.upsample_bilinear2d.vec, 3: aten.upsample_trilinear3d.vec}
_NEAREST = {1: aten.upsample_nearest1d.vec, 2: aten.upsample_nearest2d.vec, 3: aten.upsample_nearest3d.vec}
_NEAREST_EXACT = {
    1: aten._upsample_nearest_exact1d.vec,
    2: aten._upsample_nearest_exact2d.vec,
    3: aten._upsample_nearest_exact3d.vec,
}


@dataclass(slots=True)
class Axis:
    """How one axis is resized: `part` is what is shown of it, as fractions of its length."""

    axis: int
    size: int
    wanted: int
    scale: float
    part: tuple[float, float] = (0.0, 1.0)


@operation("Resize")
def _resize(b: Builder, s: Step) -> Traced:
    value = s.inputs[0]
    if not value.floating and s.get("mode", "nearest") != "nearest":
        s.inputs[0] = b.call(aten.to.dtype, value, b.real)
        return b.call(aten.to.dtype, _resize(b, s), value.dtype)
    axes = _axes(s, value)
    by_scale = _scaled(s) is not None
    found = _as_pytorch_has_it(b, s, value, axes, by_scale)
    return _axis_by_axis(b, s, value, axes) if found is None else found


@operation("Upsample")
def _upsample(b: Builder, s: Step) -> Traced:
    """What Resize was before version 10."""
    scales = [float(one) for one in (s.known(1) if s.has(1) else s.get("scales"))]
    given = {"mode": s.get("mode", "nearest"), "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    step = Step(
        "Resize", s.name, [s.inputs[0], None, b.constant(torch.tensor(scales))], s.outputs, 11, given, builder=b
    )
    return _resize(b, step)


def _scaled(s: Step) -> list[float] | None:
    place = 1 if s.opset < 11 else 2
    if not s.has(place) or s.inputs[place].example.numel() == 0:
        return None
    return [float(one) for one in s.known(place).reshape(-1)]


def _axes(s: Step, value: Traced) -> list[Axis]:
    which = [axis % value.rank for axis in s.get("axes") or range(value.rank)]
    shape = [value.shape[axis] for axis in which]
    scales = _scaled(s)
    if scales is None:
        scales, wanted = _from_sizes(s, shape, s.ints(3))
    else:
        wanted = [math.floor(size * scale) for size, scale in zip(shape, scales, strict=True)]
    found = [Axis(*one) for one in zip(which, shape, wanted, scales, strict=True)]
    if s.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        region = [float(one) for one in s.known(1).reshape(-1)]
        for place, one in enumerate(found):
            one.part = (region[place], region[place + len(found)])
    cropped = s.get("coordinate_transformation_mode") == "tf_crop_and_resize"
    return [one for one in found if one.size != one.wanted or one.scale != 1 or cropped]


def _from_sizes(s: Step, shape: list[int], sizes: list[int]) -> tuple[list[float], list[int]]:
    scales = [goal / size for goal, size in zip(sizes, shape, strict=True)]
    policy = s.get("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return scales, sizes
    one = min(scales) if policy == "not_larger" else max(scales)
    return [one] * len(scales), [math.floor(size * one + 0.5) for size in shape]


def _as_pytorch_has_it(b: Builder, s: Step, value: Traced, axes: list[Axis], by_scale: bool) -> Traced | None:
    count = value.rank - 2
    if not axes:
        return value
    if count not in _LINEAR or any(one.axis < 2 for one in axes) or not value.floating or s.get("antialias", 0):
        return None
    sizes, scales = list(value.shape[2:]), [1.0] * count
    for one in axes:
        sizes[one.axis - 2], scales[one.axis - 2] = one.wanted, one.scale
    if s.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return None
    goal = (None, scales) if by_scale else (sizes, None)
    mode, how = (
        s.get("mode", "nearest"),
        s.get("coordinate_transformation_mode", "half_pixel" if s.opset > 10 else "asymmetric"),
    )
    if mode == "nearest":
        rounding = s.get("nearest_mode", "round_prefer_floor") if s.opset > 10 else "floor"
        if (how, rounding) == ("asymmetric", "floor"):
            return b.call(_NEAREST[count], value, *goal)
        if (how, rounding) == ("half_pixel", "round_prefer_ceil"):
            return b.call(_NEAREST_EXACT[count], value, *goal)
        return None
    whole = all(abs(one.size * one.scale - one.wanted) < 1e-6 for one in axes)
    if how == "align_corners" and not whole:
        return None
    if how == "half_pixel" or how == "align_corners" or (how == "pytorch_half_pixel" and 1 not in sizes):
        corners = how == "align_corners"
        if mode == "linear":
            return b.call(_LINEAR[count], value, goal[0], corners, goal[1])
        if count == 2 and s.get("cubic_coeff_a", -0.75) == -0.75 and not s.get("exclude_outside", 0):
            return b.call(aten.upsample_bicubic2d.vec, value, goal[0], corners, goal[1])
    return None


def _axis_by_axis(b: Builder, s: Step, value: Traced, axes: list[Axis]) -> Traced:
    mode, how = (
        s.get("mode", "nearest"),
        s.get("coordinate_transformation_mode", "half_pixel" if s.opset > 10 else "asymmetric"),
    )
    outside = torch.zeros([1] * value.rank, dtype=torch.bool)
    for one in axes:
        where = places(how, one.size, one.wanted, one.scale, one.part)
        if mode == "nearest":
            rounding = s.get("nearest_mode", "round_prefer_floor") if s.opset > 10 else "floor"
            value = b.call(aten.index_select.default, value, one.axis, b.ints(_nearest(where, one.size, rounding)))
        else:
            matrix = weights(
                mode,
                where,
                one.size,
                one.scale if s.get("antialias", 0) else 1.0,
                s.get("cubic_coeff_a", -0.75),
                bool(s.get("exclude_outside", 0)),
            )
            value = _along(b, value, one.axis, matrix)
        shape = [1] * value.rank
        shape[one.axis] = one.wanted
        outside = outside | ((where < 0) | (where > one.size - 1)).reshape(shape)
    if how != "tf_crop_and_resize" or not bool(outside.any()):
        return value
    return b.call(aten.masked_fill.Scalar, value, b.constant(outside), s.get("extrapolation_value", 0.0))


def _nearest(where: torch.Tensor, size: int, rounding: str) -> list[int]:
    if rounding == "floor":
        near = where.floor()
    elif rounding == "ceil":
        near = where.ceil()
    elif rounding == "round_prefer_ceil":
        near = (where + 0.5).floor()
    else:
        near = (where - 0.5).ceil()
    return [int(one) for one in near.clamp(0, size - 1)]


def _along(b: Builder, value: Traced, axis: int, matrix: torch.Tensor) -> Traced:
    """Each line along the axis times the matrix."""
    if axis == value.rank - 1:
        return b.call(aten.linear.default, value, b.constant(matrix))
    turned = b.call(aten.transpose.int, value, axis, -1)
    return b.call(aten.transpose.int, b.call(aten.linear.default, turned, b.constant(matrix)), axis, -1)
