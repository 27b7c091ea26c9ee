"""A layer that is given a tensor with other axes, or another size of one, than it was made for."""

from __future__ import annotations

import math
import re

from sleuth.dry.keras.trouble import Shape, Trouble, shape_in
from sleuth.findings import Finding

_AXIS = re.compile(r"expected axis (-?\d+) of input shape to have value (\d+), but received input with shape (\(.*?\))")
_AXES = re.compile(r"expected (min_|max_)?ndim=(\d+), found ndim=(\d+)\. Full shape received: (\(.*?\))")


def explain(trouble: Trouble) -> Finding | None:
    if "is incompatible with the layer" not in trouble.text or trouble.layer is None:
        return None
    if trouble.notes.unlike_declared is not None:  # no layer is to blame for that
        return None
    axis, axes = _AXIS.search(trouble.text), _AXES.search(trouble.text)
    if axis is not None:
        return _size(trouble, int(axis[1]), int(axis[2]), shape_in(axis[3]))
    if axes is not None:
        return _count(trouble, axes[1] or "", int(axes[2]), shape_in(axes[4]))
    return None


def _size(trouble: Trouble, axis: int, expected: int, shape: Shape) -> Finding:
    kind = type(trouble.layer).__name__
    diagnosis = (
        "channel-mismatch" if "Conv" in kind else "linear-size-mismatch" if "Dense" in kind else "shape-mismatch"
    )
    rest = [size for size in shape[1:] if isinstance(size, int)]
    fixes = []
    if len(shape) > 2 and math.prod(rest) == expected:
        fixes.append(f"put a Flatten layer before {trouble.layer.name}: {' × '.join(map(str, rest))} = {expected}")
    fixes.append(f"give {trouble.layer.name} inputs of size {expected} on axis {axis}, or make it for {shape[axis]}")
    return trouble.finding(
        diagnosis,
        f"{trouble.layer.name} ({kind}) expects {expected} on axis {axis} and is given {shape}",
        [("expected size", expected), ("given shape", shape)],
        fixes,
    )


def _count(trouble: Trouble, bound: str, expected: int, shape: Shape) -> Finding:
    kind, name = type(trouble.layer).__name__, trouble.layer.name
    least = {"min_": "at least ", "max_": "at most "}.get(bound, "")
    return trouble.finding(
        "shape-mismatch",
        f"{name} ({kind}) expects {least}{expected} axes and is given {len(shape)}: {shape}",
        [("expected axes", expected), ("given shape", shape)],
        _axes_fixes(trouble, kind, expected, shape),
    )


def _axes_fixes(trouble: Trouble, kind: str, expected: int, shape: Shape) -> list[str]:
    before = trouble.births[0].layer if trouble.births else ""
    missing = expected - len(shape)
    if missing == 1 and any(recurrent in before for recurrent in ("(LSTM)", "(GRU)", "(SimpleRNN)")):
        return [f"give {before} return_sequences=True: it then passes on every step, not only the last"]
    if missing == 1 and ("Conv" in kind or "Pool" in kind):
        return [f"add the channel axis, e.g. x[..., None], for inputs of shape {(*shape, 1)}"]
    if missing == 1:
        return [f"give it (batch, steps, features), e.g. Reshape(({shape[-1]}, 1)) before it"]
    if missing == -1:
        return ["leave out the axis too many, e.g. with Flatten or Reshape before it"]
    return []
