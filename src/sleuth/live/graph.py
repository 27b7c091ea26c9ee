"""What the autograd graph of a failed loss still knows: the operands that its operations saved for the backward pass.

Used where the step cannot be run again with the same values. The graph has no line numbers; those come from the graph
of another round of the same loop, operation by operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sleuth.live import numbers
from sleuth.live.trace import Op, Trace

# How to run an operation again from what its node saved: the function, and the names of the saved operands.
_AGAIN: dict[str, tuple[Callable[..., Tensor], tuple[str, ...]]] = {
    "Log": (torch.log, ("self",)),
    "Log2": (torch.log2, ("self",)),
    "Log10": (torch.log10, ("self",)),
    "Log1P": (torch.log1p, ("self",)),
    "Div": (torch.div, ("self", "other")),
    "Mul": (torch.mul, ("self", "other")),
    "Pow": (torch.pow, ("self", "exponent")),
    "Acos": (torch.acos, ("self",)),
    "Asin": (torch.asin, ("self",)),
    "Acosh": (torch.acosh, ("self",)),
    "Atanh": (torch.atanh, ("self",)),
    "Lgamma": (torch.lgamma, ("self",)),
    "Digamma": (torch.digamma, ("self",)),
    "Std": (torch.std, ("self",)),
    "Var": (torch.var, ("self",)),
    "Mm": (torch.mm, ("self", "mat2")),
    "Addmm": (torch.mm, ("mat1", "mat2")),
    "Bmm": (torch.bmm, ("self", "mat2")),
}
# Operations that save only their result: what it means that it is NaN, or infinite.
_BY_RESULT = {
    "Sqrt": ("sqrt-of-negative", "value-overflow"),
    "Rsqrt": ("sqrt-of-negative", "rsqrt-of-zero"),
    "Exp": ("unexplained-non-finite", "exp-overflow"),
    "Exp2": ("unexplained-non-finite", "exp-overflow"),
    "Reciprocal": ("division-by-zero", "division-by-zero"),
    "Softmax": ("softmax-of-fully-masked-row", "unexplained-non-finite"),
    "LogSoftmax": ("softmax-of-fully-masked-row", "unexplained-non-finite"),
}


@dataclass(frozen=True, slots=True)
class Suspect:
    """The first operation of the graph that is known to have made a non-finite value. `position` counts the graph's
    operations in the order they ran."""

    position: int
    node: str
    op: Op | None
    diagnosis: str | None
    result: numbers.Numbers


def suspect(root: Tensor, on_birth: Any) -> Suspect | None:
    for position, node in enumerate(in_order(root)):
        kind = node.name().split("Backward")[0]
        found = _ran_again(position, node, kind, on_birth) or _by_result(position, node, kind)
        if found is not None:
            return found
        if _was_given_bad_values(node):
            # What went wrong did so before the graph begins, or in an operation that saves nothing.
            return None
    return None


def in_order(root: Tensor) -> list[Any]:
    """The nodes below a tensor, in the order in which their operations ran."""
    operations = (node for node in nodes_below([root]) if not _is_leaf(node))
    return sorted(operations, key=lambda node: node._sequence_nr())


def leaves_below(tensors: Any) -> list[Tensor]:
    """The leaf tensors that a backward pass from these tensors gives gradients to."""
    return leaves_and_size(tensors)[0]


def leaves_and_size(tensors: Any) -> tuple[list[Tensor], int]:
    """The same, and how many nodes the backward pass goes through."""
    nodes = nodes_below([tensors] if isinstance(tensors, Tensor) else list(tensors))
    return [node.variable for node in nodes if _is_leaf(node)], len(nodes)


def _is_leaf(node: Any) -> bool:
    return "AccumulateGrad" in node.name()


def nodes_below(roots: list[Tensor], most: float = math.inf) -> list[Any]:
    """Every autograd node that these tensors depend on, once, or so many of them."""
    seen: dict[Any, None] = {}
    todo = [root.grad_fn for root in roots]
    while todo and len(seen) < most:
        node = todo.pop()
        if node is not None and node not in seen:
            seen[node] = None
            todo += [parent for parent, _ in node.next_functions]
    return list(seen)


def _ran_again(position: int, node: Any, kind: str, on_birth: Any) -> Suspect | None:
    function, names = _AGAIN.get(kind, (None, ()))
    operands = [_saved(node, name) for name in names]
    if function is None or any(operand is None for operand in operands):
        return None
    trace = Trace(on_birth)
    trace.enter()
    try:
        function(*operands)
    except (RuntimeError, TypeError):
        return None
    finally:
        trace.leave()
    born = next((op for op in trace.ops if "verdict" in op.notes), None)
    return None if born is None else Suspect(position, node.name(), born, None, born.output)


def _was_given_bad_values(node: Any) -> bool:
    operands = [_saved(node, name) for name in ("self", "other", "input", "mat1", "weight")]
    return any(isinstance(operand, Tensor) and numbers.look(operand).nan for operand in operands)


def _by_result(position: int, node: Any, kind: str) -> Suspect | None:
    if kind not in _BY_RESULT:
        return None
    result = _saved(node, "result")
    held = numbers.look(result) if isinstance(result, Tensor) else numbers.NOTHING
    if held.finite:
        return None
    if_nan, if_infinite = _BY_RESULT[kind]
    return Suspect(position, node.name(), None, if_nan if held.nan else if_infinite, held)


def _saved(node: Any, name: str) -> Any:
    try:
        return getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None


def place_in(trace: Trace, root: Tensor, suspected: Suspect) -> Op | None:
    """The operation of a traced round that stands where the suspect stood in its own."""
    nodes = in_order(root)
    if suspected.position >= len(nodes) or nodes[suspected.position].name() != suspected.node:
        return None
    return trace.op_of_node(nodes[suspected.position])
