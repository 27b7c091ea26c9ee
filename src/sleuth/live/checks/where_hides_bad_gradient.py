"""A bad value that torch.where, a clamp or a mask hides in the forward pass comes back in the backward pass."""

from __future__ import annotations

from sleuth.findings import Evidence, Fix, Link
from sleuth.live.births import Birth, Rewrite, Verdict, operation_name
from sleuth.live.naming import same_memory
from sleuth.live.trace import Op, Operand, Trace

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

# Which operand decides what is left out; None for those that decide by the value itself.
_HIDES = {
    "where": 0,
    "masked_fill": 1,
    "masked_select": 1,
    "index": 1,
    "nan_to_num": None,
    "clamp": None,
    "clamp_min": None,
}
# How to choose an argument by the condition by which the result is chosen.
_CHOOSES = {"where": "torch.where({ok}, {}, SAFE)", "masked_fill": "{}.masked_fill({ok}, SAFE)"}
_SAFE_AT_ZERO = {"acos", "asin", "atanh"}
_STEPS = 3
_ANCESTORS = 6


def check(birth: Birth) -> Verdict | None:
    forward = birth.op.forward
    if forward is None or not birth.made_nan or not birth.in_derivative:
        return None
    hider = _hidden_by(forward, birth.trace)
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
        rewrites=_rewrites(hider, forward),
    )


def _rewrites(hider: Op, op: Op) -> tuple[Rewrite, ...]:
    """Choose the argument by the same condition, where the result is chosen by one."""
    form = _CHOOSES.get(hider.name)
    if form is None:
        return ()
    if hider.name == "where" and not _leads_to(op, hider.operands[1]):
        form = "torch.where({ok}, SAFE, {})"
    safe = "0.0" if op.name in _SAFE_AT_ZERO else "1.0"
    return (
        Rewrite(
            f"make the argument of {operation_name(op)} safe as well",
            form.replace("SAFE", safe),
            operand=1 if op.name == "div" else 0,
            chooser=hider,
            condition=_HIDES[hider.name] or 0,
        ),
    )


def _leads_to(op: Op, operand: Operand) -> bool:
    """Was the operand made from what the operation gave, a few operations later?"""
    makers = [operand.maker]
    for _ in range(_STEPS):
        if op in makers:
            return True
        makers = [one.maker for maker in makers if maker is not None for one in maker.operands]
    return False


def _hidden_by(op: Op, trace: Trace) -> Op | None:
    """The operation that takes this one's result, at once or a few elementwise operations later, and leaves out what is
    bad in it: by a condition on the same input, or because the value itself is out of range."""
    results = [op]
    for _ in range(_STEPS):
        readers = [
            reader
            for reader in trace.ops
            if not reader.in_backward and any(o.maker in results for o in reader.operands if o.maker is not None)
        ]
        for reader in readers:
            if reader.name.rstrip("_") in _HIDES and _guards(reader, op):
                return reader
        results = [reader for reader in readers if reader.output_shape == op.output_shape]
    return None


def _guards(hider: Op, op: Op) -> bool:
    decides = _HIDES[hider.name.rstrip("_")]
    if decides is None:
        return not op.output.finite
    return decides < len(hider.operands) and _same_origin(hider.operands[decides], op)


def _same_origin(condition: Operand, op: Op) -> bool:
    """Was the condition computed from what the operation was given?"""
    todo, seen = [condition], 0
    while todo and seen < _ANCESTORS:
        one = todo.pop(0)
        seen += 1
        for given in op.operands:
            if one.maker is not None and one.maker is given.maker:
                return True
            if one.tensor is not None and given.tensor is not None and same_memory(one.tensor, given.tensor):
                return True
        if one.maker is not None:
            todo += one.maker.operands
    return False
