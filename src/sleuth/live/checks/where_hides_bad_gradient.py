"""A bad value that torch.where, a clamp or a mask hides in the forward pass comes back in the backward pass."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix, Link
from sleuth.live.births import Birth, Verdict, operation_name
from sleuth.live.trace import Op, Trace

REFINES = (
    "sqrt_gradient_at_zero",
    "pow_gradient_at_zero",
    "norm_gradient_at_zero",
    "arc_gradient_at_edge",
    "std_gradient_at_zero",
    "division_by_zero",
    "log_of_zero",
    "zero_times_infinity",
    "logdet_of_singular",
)

_HIDES = {"where", "masked_fill", "nan_to_num", "clamp", "clamp_min", "clamp_max", "masked_select", "index"}
_STEPS = 3


def check(birth: Birth) -> Verdict | None:
    forward = birth.op.forward
    if forward is None or not birth.op.in_backward or birth.op.code is not None:
        return None
    hider = _hidden_by(forward, birth.trace, _STEPS)
    if hider is None:
        return None
    name = operation_name(forward)
    return Verdict(
        evidence=(Evidence("hidden by", hider.plain_name),),
        origin=(
            Link(
                f"{hider.plain_name} keeps the bad values of {name} out of the result, but not out of its derivative",
                hider.place,
            ),
        ),
        fixes=(
            Fix(
                f"make the argument safe before {name} as well: {name}(torch.where(ok, x, 1.0)) inside the outer where"
            ),
            Fix(f"or clamp before {name} instead of after it"),
        ),
        culprit=1 if forward.name == "div" else 0,
    )


def _hidden_by(op: Op, trace: Trace, steps: int) -> Op | None:
    """The operation that takes this one's result, at once or a few operations later, and leaves values out of it."""
    readers = [other for other in trace.ops if not other.in_backward and any(o.maker is op for o in other.operands)]
    for reader in readers:
        if reader.name.rstrip("_") in _HIDES:
            return reader
    if steps:
        for reader in readers:
            found = _hidden_by(reader, trace, steps - 1)
            if found is not None:
                return found
    return None
