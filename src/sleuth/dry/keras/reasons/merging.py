"""Concatenate, Add and their like, given tensors that do not fit together."""

from __future__ import annotations

from sleuth.dry.births import Birth
from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding

_JOINS = ("Concatenate", "Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Dot", "Stack", "Append")


def explain(trouble: Trouble) -> Finding | None:
    if trouble.failed is None or trouble.failed.call.operation not in _JOINS or not trouble.is_about_shapes:
        return None
    operation = trouble.failed.call.operation
    first = trouble.births[0] if trouble.births else None
    second = next((birth for birth in trouble.births if first is not None and birth.shape != first.shape), None)
    if first is None or second is None:
        return None
    joined = operation in ("Concatenate", "Append")
    return trouble.finding(
        "shape-mismatch",
        f"{operation} cannot join {first.shape} and {second.shape}",
        [(birth.layer or birth.name or birth.operation, birth.shape) for birth in trouble.births],
        _fixes(first, second, joined),
    )


def _fixes(first: Birth, second: Birth, joined: bool) -> list[str]:
    a, b = first.shape, second.shape
    if len(a) != len(b):
        return [f"bring both to the same number of axes: one has {len(a)}, the other {len(b)}"]
    wrong = [axis for axis, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
    if not joined and wrong:
        return [f"make {second.layer or 'the second'} give {a[wrong[0]]} on axis {wrong[0]}, as the first"]
    if len(wrong) == 1:
        return [f"they differ on axis {wrong[0]} alone: axis={wrong[0]} joins them"]
    return [f"make them equal on the axes other than the joined one: {' against '.join(map(str, (a, b)))}"]
