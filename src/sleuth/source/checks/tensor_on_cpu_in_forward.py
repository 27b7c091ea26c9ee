"""A tensor made in `forward` without a device, and combined there with what may lie on the GPU."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import strays, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors

OPERATIONS = (
    "add",
    "sub",
    "mul",
    "div",
    "cat",
    "stack",
    "matmul",
    "where",
    "recurrent",
    "masked_fill",
    "maximum",
    "minimum",
)
_LAYERS = ("linear", "conv", "embedding", "recurrent", "batch_norm", "module")


def operation(site: Site) -> Finding | None:
    function = site.spot.function
    if function is None or function.cls is None or function.name != "forward" or not function.cls.is_module():
        return None
    operands = _flat(site.operands)
    for operand in operands:
        made = strays.maker(operand)
        if made is None or made.unit is not site.spot.file or not function.contains(made.node):
            continue
        if not any(_of_the_network(one) for one in operands if one is not operand) and site.op != "recurrent":
            continue
        return _told(site, made) if strays.uses_a_gpu(site.spot.file) and not _asked(site) else None
    return None


def _flat(operands: list[Value]) -> list[Value]:
    """The operands, and those in a list or pair of them."""
    flat = []
    for one in operands:
        flat += one.parts if one.kind == "sequence" and one.parts else [one]
    return flat


def _of_the_network(value: Value) -> bool:
    """Is it computed from the input or from weights? Those go where the network goes."""
    if value.kind not in ("tensor", "batch"):
        return False
    return any(
        one.op in _LAYERS
        or one.op == "api:torch.nn.Parameter"
        or (one.op.startswith("param:") and one.kind == "tensor")
        for one in ancestors(value, most=60)
    )


def _asked(site: Site) -> bool:
    return site.spot.guarded_by("is_cuda", "cuda", "device", "use_cuda", "gpu")


def _told(site: Site, made: Value) -> Finding:
    file = site.spot.file
    name = _first_tensor(site)
    call = made.node
    edits = (tell.add_argument(file, call, f"device={name}.device"),) if isinstance(call, ast.Call) and name else ()
    return tell.found(
        "tensor-on-cpu-in-forward",
        site,
        node=made.node,
        file=made.unit,
        title=f"{made.api} in forward makes its tensor on the CPU, wherever the network is",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(made, "made without device=, so on the CPU"),
            tell.because(site.node, "combined here with what lies on the network's device", file),
        ],
        fixes=[Fix(f"device={name}.device" if name else "give it the device of the input", edits)],
    )


def _first_tensor(site: Site) -> str | None:
    """The name of forward's input, whose device is the right one."""
    function = site.spot.function
    parameters = function.parameters() if function is not None else []
    return parameters[1].arg if len(parameters) > 1 else None
