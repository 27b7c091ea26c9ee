"""Is what the comparison said about a fault true: found, at the right place, and by the right name?"""

from __future__ import annotations

import re
from typing import Any

from compare.fault import Fault, Spot

# A region of more places than this points nowhere: a layer of PyTorch's own is one, an operation outside of one is one.
LARGEST_REGION = 6
_VIEWS = set(
    "view reshape flatten unflatten transpose permute select slice getitem contiguous clone expand squeeze unsqueeze "
    "zeros arange".split()
)
_LINES = re.compile(r'File "[^"]*networks\.py", line (\d+)')
_WEIGHTS = {"weights-stale", "scale-differs"}
# What a person would call it, and the diagnoses that say so.
CAUSES: dict[str, set[str]] = {
    "weights differ": _WEIGHTS,
    "weights lost": {*_WEIGHTS, "bias-lost"},
    "weights transposed": {*_WEIGHTS, "weights-transposed"},
    "precision of weights": {*_WEIGHTS, "precision-lowered"},
    "weights in int8": {*_WEIGHTS, "precision-lowered", "quantisation-range-clipped"},
    "kernel flip": {*_WEIGHTS, "kernel-flipped"},
    "kernel axes": {*_WEIGHTS, "kernel-axes-swapped"},
    "mean and variance": {*_WEIGHTS, "mean-and-variance-swapped"},
    "bias lost": {*_WEIGHTS, "bias-lost"},
    "bias scaled": {*_WEIGHTS, "bias-lost"},
    "gate order": {*_WEIGHTS, "gate-order-differs"},
    "input scaling": {*_WEIGHTS, "input-scaling-differs", "channels-reversed"},
    "scale": {*_WEIGHTS, "attention-scale-differs", "input-scaling-differs"},
    "epsilon": {"epsilon-differs"},
    "activation": {"activation-differs"},
    "softmax axis": {"softmax-axis-differs"},
    "padding on one side": {"same-padding-asymmetric"},
    "pooling edges": {"pooling-edges-differ"},
    "resize corners": {"resize-corners-differ"},
    "resize mode": {"resize-corners-differ"},
    "read backwards": {"gate-order-differs"},
    "reset after": {"reset-after-differs"},
    "recurrent activation": {"recurrent-activation-differs", "activation-differs"},
    "mask": {"mask-differs"},
    "operands swapped": {"operands-swapped"},
    "operand left out": {"operands-swapped"},
    "flatten order": {"flatten-order-differs"},
    "channels reversed": {"channels-reversed", *_WEIGHTS},
    "precision": {"precision-lowered"},
    "dropout": {"dropout-active"},
    "batch statistics": {"batch-statistics-in-use"},
    "norm formula": {"norm-formula-differs"},
}


def judged(done: Any, fault: Fault) -> dict[str, Any]:
    """Of the first parting: `place` is node, region, set or wrong; `cause` is right, tied, wrong or none."""
    if not done.troubles:
        return {"found": not done.same, "place": "none", "cause": "none"}
    first = done.troubles[0]
    right = {name for spot in fault.spots for name in resolved(done.graph, spot)}
    said = first.explanation
    return {
        "found": True,
        "place": _place(done.graph, first, right),
        "cause": _cause(said, fault),
        "said": f"{said.diagnosis}: {said.proposal.says}" if said else "",
        "node": said.node if said else first.parting.node,
        "size": len(places_in(done.graph, first.parting.region)),
        "right": sorted(right, key=done.graph.order.__getitem__)[:4],
        "score": round(min(first.parting.score.score, 1e30), 2),
    }


def places_in(graph: Any, region: tuple[str, ...]) -> set[str]:
    """What a person who reads the report has to look at; what only rearranges numbers is not counted."""
    found: set[str] = set()
    for name in region:
        stack = list((graph.nodes[name].meta.get("nn_module_stack") or {}).values())
        if stack and str(stack[-1][1]).startswith("torch.nn"):
            found.add(str(stack[-1][0]))
        elif graph.value(name).op not in _VIEWS:
            found.add(name)
    return found


def _place(graph: Any, first: Any, right: set[str]) -> str:
    if first.explanation is not None:
        return "node" if first.explanation.node in right else "wrong"
    if first.parting.node in right:
        return "node"
    if right & set(first.parting.region) and len(places_in(graph, first.parting.region)) <= LARGEST_REGION:
        return "region"
    return "set" if right & set(first.parting.others) else "wrong"


def _cause(said: Any, fault: Fault) -> str:
    """`tied` where the right name was given only as one that fits as well."""
    if said is None:
        return "none"
    accepted = CAUSES.get(fault.cause, set())
    if said.diagnosis in accepted:
        return "right"
    return "tied" if any(name in accepted for name, _ in said.rivals) else "wrong"


def resolved(graph: Any, spot: Spot) -> set[str]:
    """The operations of the reference that are this place."""
    within = [name for name in graph.names if graph.value(name).layer == spot.layer]
    if spot.nth is not None:
        found = {[name for name in within if graph.value(name).op == spot.op][spot.nth]}
    elif spot.whole:
        found = set(within)
    else:
        found = {name for name in within if name == spot.node or (spot.lines and lines(graph, name) == spot.lines)}
    if spot.fused:
        found |= {parent for name in found for parent in graph.parents(name) if "conv" in graph.value(parent).op}
    return found | _folded(graph, found) if spot.folded else found


def _folded(graph: Any, found: set[str]) -> set[str]:
    """What comes before and depends on no input: an exporter computes it once and writes down the result."""
    live: set[str] = set()
    for name in graph.names:
        if graph.value(name).op == "input" or any(parent in live for parent in graph.parents(name)):
            live.add(name)
    before: set[str] = set()
    open_ends = [parent for name in found for parent in graph.parents(name)]
    while open_ends:
        name = open_ends.pop()
        if name not in live and name not in before:
            before.add(name)
            open_ends += graph.parents(name)
    return before


def lines(graph: Any, name: str) -> tuple[int, ...]:
    return tuple(map(int, _LINES.findall(graph.nodes[name].meta.get("stack_trace") or "")))
