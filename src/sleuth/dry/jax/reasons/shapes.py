"""Arrays that do not fit together in an operation."""

from __future__ import annotations

import re

from sleuth.dry.births import Birth
from sleuth.dry.jax.trouble import Trouble, called
from sleuth.findings import Finding

FALLBACK = True
_ABOUT_SHAPES = re.compile(
    r"contracting dimensions|[Ii]ncompatible shapes|Cannot concatenate|Shape mismatch|does not match previous terms|"
    r"same number of dimensions|inconsistent sizes|All input arrays must have the same shape|Cannot broadcast|"
    r"feature dimension size|feature_group_count"
)


def explain(trouble: Trouble) -> Finding | None:
    if _ABOUT_SHAPES.search(trouble.text) is None:
        return None
    births = trouble.births
    diagnosis = "channel-mismatch" if "feature" in trouble.text and "conv" in trouble.text else "shape-mismatch"
    is_a_product = "contracting" in trouble.text  # two equal shapes may be multiplied wrongly, and nothing else
    if len(births) < 2 or (len({birth.shape for birth in births}) < 2 and not is_a_product):
        return trouble.finding(diagnosis, trouble.text.splitlines()[0])
    operation = trouble.call.operation if trouble.call is not None else "the operation"
    return trouble.finding(
        diagnosis,
        f"{operation} cannot take {' and '.join(called(birth) for birth in births[:3])}",
        [(birth.name or f"operand {number}", birth.shape) for number, birth in enumerate(births[:4], 1)],
        _fixes(operation, *births[:2]),
    )


def _fixes(operation: str, first: Birth, second: Birth) -> list[str]:
    a, b = first.shape, second.shape
    if operation in ("matmul", "dot") and len(a) > 1 and len(b) > 1:
        return [f"make {second.name or 'the second'} {(*b[:-2], a[-1], b[-1])}, or give it {b[-2]} features instead"]
    if len(a) == len(b) + 1 and a[0] == b[0]:
        return [f"{second.name or 'the second'}[:, None] stands beside {a}; or sum over the axis that is too many"]
    if operation == "concatenate" and len(a) == len(b):
        differ = [axis for axis, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        return [f"axis={differ[0]} joins them"] if len(differ) == 1 else []
    return []
