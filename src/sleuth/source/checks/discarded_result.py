"""A tensor operation as a statement of its own: its result, a new tensor, is thrown away."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Discarded, Spot
from sleuth.source.values import Value

# Methods that leave their tensor as it is. Not those that read a value back (item, numpy): they also wait for the GPU.
_OF_TENSORS: Final = frozenset(
    "to cuda cpu float double half bfloat16 long int bool byte unsqueeze squeeze view reshape permute transpose t "
    "flatten detach contiguous clone clamp clip expand repeat masked_fill type type_as add sub mul div scatter "
    "index_fill index_add relu sigmoid tanh softmax log_softmax normalize requires_grad".split()
)
_OF_ARRAYS: Final = frozenset("astype reshape transpose flatten squeeze swapaxes clip repeat".split())
# A receiver with one of these is a tensor, whatever else is known of it.
_ONLY_TENSORS: Final = frozenset("unsqueeze permute detach masked_fill contiguous type_as log_softmax".split())
_FUNCTIONS: Final = frozenset("unsqueeze squeeze reshape transpose permute clamp flatten relu softmax dropout".split())
_NAMES: Final = _OF_TENSORS | _OF_ARRAYS | _ONLY_TENSORS | _FUNCTIONS
_VARIABLES: Final = (ast.Name, ast.Attribute, ast.Subscript)


def discarded(d: Discarded) -> Finding | None:
    call = d.node.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    name = call.func.attr
    if name not in _NAMES or _is_shown(d) or _is_tried(d.spot):
        return None
    if any(keyword.arg in ("inplace", "out") for keyword in call.keywords):
        return None
    receiver = call.func.value
    by_method = bool(d.value.op) and not d.value.api and bool(d.value.inputs)
    if by_method and isinstance(receiver, _VARIABLES) and _of_a_tensor(name, d.value):
        subject = receiver
    elif d.value.api.startswith("torch.") and name in _FUNCTIONS and call.args and isinstance(call.args[0], _VARIABLES):
        if len(call.args) > 2 and name == "dropout":
            return None
        subject = call.args[0]
    else:
        return None
    variable = d.spot.file.source(subject)
    code = d.spot.file.source(call)
    edit = tell.insert_before(d.spot.file, d.node, f"{variable} = ")
    return tell.found(
        "discarded-result",
        d,
        title=f"{name} gives a new tensor and leaves {variable} as it is"
        if d.value.kind == "tensor"
        else f"{name} gives a new array and leaves {variable} as it is",
        chain=[tell.because(d.node, f"nothing takes what {code.split('(')[0]}(…) gives", d.spot.file)],
        fixes=[Fix(f"assign it: {variable} = {code}", (edit,))],
    )


def _of_a_tensor(name: str, value: Value) -> bool:
    """Is it a method that changes nothing, of something known to be a tensor or array?"""
    base = value.inputs[0]
    if base.kind == "array":
        return name in _OF_ARRAYS
    if base.kind == "tensor" and name in _OF_TENSORS:
        return base.op != "batch" or name not in ("to", "cuda", "cpu", "clone")
    return base.kind == "?" and name in _ONLY_TENSORS and not base.op.startswith("import:")


def _is_shown(d: Discarded) -> bool:
    """The last expression of a notebook's cell is displayed."""
    return (d.node.end_lineno or 0) in d.spot.file.cell_ends


def _is_tried(spot: Spot) -> bool:
    """Only to see whether it works: inside `try`, or where a test waits for an error."""
    return (
        "try" in spot.guards
        or any(arm == "try" for _, arm in spot.branch)
        or any("raises" in value.op or "warns" in value.op or "Raises" in value.op for value in spot.withs)
    )
