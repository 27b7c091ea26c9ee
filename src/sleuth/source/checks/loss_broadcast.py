"""Prediction and target whose shapes broadcast to a matrix, or a reduction without keepdims against what it reduced."""

from __future__ import annotations

from sleuth.findings import Evidence, Finding, Fix
from sleuth.source import heads, losses, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, same

_LOSSES = ("mse", "l1", "smooth_l1")
OPERATIONS = (*_LOSSES, "sub", "div")
_REDUCTIONS = ("sum", "mean", "max", "min", "norm", "std", "var", "logsumexp")
_KEEP = ("keepdim", "keepdims", "keep_dims")


def operation(site: Site) -> Finding | None:
    if site.op in _LOSSES:
        answer, target = losses.prediction(site), losses.target(site)
        return None if answer is None or target is None else _paired(site, answer, target)
    if len(site.operands) != 2:
        return None
    left, right = site.operands
    if site.op == "sub" and bool(left.grad) != bool(right.grad):
        found = _paired(site, left, right)
        if found is not None:
            return found
    return _reduced(site, left, right)


def _paired(site: Site, answer: Value, target: Value) -> Finding | None:
    """(N, 1) against (N,): each would have to grow to fit the other."""
    shapes = answer.shape, target.shape
    column, row = (shapes[0], shapes[1]) if shapes[0] is not None and len(shapes[0]) == 2 else (shapes[1], shapes[0])
    if column is None or row is None or len(column) != 2 or len(row) != 1:
        return None
    if column[1] != 1 or row[0] == 1 or column[0] == 1:
        return None
    if site.op == "sub" and row[0] != column[0]:
        # Sizes that differ, or are not known, are pairs that were asked for.
        return None
    # A loss that broadcasts is wrong; a difference of all pairs may be meant, though hardly between answer and target.
    by_hand = site.op == "sub"
    return tell.found(
        "loss-broadcast",
        site,
        certainty="likely" if by_hand else "certain",
        severity="warning" if by_hand else "error",
        chain=[
            tell.because(answer, f"one side has the shape {_written(shapes[0])}"),
            tell.because(target, f"the other has the shape {_written(shapes[1])}"),
            tell.because(site.node, "each row of the one meets every entry of the other", site.spot.file),
        ],
        evidence=[Evidence("shapes", f"{_written(shapes[0])} and {_written(shapes[1])}")],
        fixes=[Fix("give both the same shape: squeeze(1) the prediction, or unsqueeze(1) the target")],
    )


def _reduced(site: Site, left: Value, right: Value) -> Finding | None:
    """`x / x.sum(1)`: the reduced axis is gone, so the shapes are lined up from the wrong end."""
    if right.op not in _REDUCTIONS or not right.inputs or not same(left, right.inputs[0]):
        return None
    if any(right.option(name) is not None for name in _KEEP) or len(right.inputs) > 2:
        return None
    over = heads.dimension(right)
    rank = None if left.shape is None else len(left.shape)
    axis = None if over is None or type(over.const) is not int else over.const
    lost = axis is not None and (axis > 0 or (axis < 0 and rank is not None and rank > 1))
    if not lost or (rank is not None and rank < 2):
        return None
    return tell.found(
        "loss-broadcast",
        site,
        title=f"{right.op} over axis {axis} without keepdims, against what it was taken of",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(right, f"the {right.op} drops axis {axis}"),
            tell.because(site.node, "shapes are lined up from the right: rows meet the wrong numbers", site.spot.file),
        ],
        fixes=[Fix("keep the axis: keepdim=True in torch, keepdims=True in TensorFlow, JAX and NumPy")],
    )


def _written(shape: tuple[int | None, ...] | None) -> str:
    sizes = ["N" if size is None else str(size) for size in shape or ()]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
