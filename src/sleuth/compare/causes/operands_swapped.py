"""The right operands in the wrong order or place: a difference the other way round, the first token for the last."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes import _weights as weights
from sleuth.compare.causes._arguments import argument, changed, followed_by
from sleuth.compare.causes._calls import subject, with_
from sleuth.compare.reference import Call

_Rule = Callable[[Call], Iterable[Proposal]]
_ARITHMETIC = ("add", "sub", "mul", "div")
_MOST_PARTS = 3


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    """A weight that is used the other way round is told by the causes about weights."""
    operands = [one for one in call.arguments.values() if isinstance(one, Tensor) and one.is_floating_point()]
    if call.op in ("flip", "matmul", "mm") and any(weights.is_weight(one, target) for one in operands):
        return ()
    return _RULES[call.op](call)


def _arithmetic(call: Call) -> Iterable[Proposal]:
    left, right = call.arguments.get("self"), call.arguments.get("other")
    if not isinstance(left, Tensor) or right is None:
        return
    if call.op in ("sub", "div"):
        word = "minus" if call.op == "sub" else "over"
        yield Proposal(
            f"the operands are exchanged: it has b {word} a for the reference's a {word} b",
            f"exchange the two operands of {call.op}",
            lambda call: _of(call.op, call.arguments["other"], call.arguments["self"]),
        )
    if not isinstance(right, Tensor) or right.ndim == 0 or left.ndim == 0:
        return
    for op in _ARITHMETIC:
        if op != call.op:
            yield Proposal(
                f"it computes {op} where the reference computes {call.op}",
                f"use {call.op}",
                lambda call, op=op: _of(op, call.arguments["self"], call.arguments["other"]),  # type: ignore[misc]
            )
    if call.op in ("add", "mul") and left.shape == right.shape:
        for kept, lost in (("self", "second"), ("other", "first")):
            yield Proposal(
                f"the {lost} operand of {call.op} is left out",
                f"{'add' if call.op == 'add' else 'multiply by'} the {lost} operand, as the reference does",
                lambda call, kept=kept: call.arguments[kept],  # type: ignore[misc]
            )


def _reversed_difference(call: Call) -> Iterable[Proposal]:
    yield Proposal(
        "the operands are exchanged: it has b minus a for the reference's a minus b",
        "exchange the two operands of sub",
        followed_by(torch.neg),
    )


def _product(call: Call) -> Iterable[Proposal]:
    names = [argument.name for argument in call.target._schema.arguments[:2]]
    first, second = (call.arguments[name] for name in names)
    yield Proposal(
        "the two matrices of the product are exchanged",
        "exchange the operands of the matrix product",
        lambda call: call.again(**{names[0]: call.arguments[names[1]], names[1]: call.arguments[names[0]]}),
    )
    for name, tensor, word in ((names[0], first, "first"), (names[1], second, "second")):
        if tensor.ndim >= 2 and tensor.shape[-1] == tensor.shape[-2] > 1:
            yield Proposal(
                f"the {word} matrix of the product is transposed",
                f"transpose the {word} operand of the matrix product as the reference does",
                changed(name, lambda one: one.mT),
            )


def _joined(call: Call) -> Iterable[Proposal]:
    parts, dim = call.arguments["tensors"], argument(call, "dim")
    count = len(parts)
    orders = itertools.permutations(range(count)) if count <= _MOST_PARTS else [tuple(reversed(range(count)))]
    for order in orders:
        if list(order) != list(range(count)):
            yield Proposal(
                f"the parts are joined in the order {', '.join(str(one + 1) for one in order)}",
                "join them in the reference's order",
                changed("tensors", lambda parts, order=order: [parts[one] for one in order]),  # type: ignore[misc]
            )
    ndim = parts[0].ndim + (call.op == "stack")
    for axis in range(ndim):
        if axis != dim % ndim:
            yield Proposal(
                f"the parts are joined along axis {axis}, not axis {dim % ndim}",
                f"join them along the axis that the reference has, {dim % ndim} of {ndim}",
                lambda call, axis=axis: call.again(dim=axis).reshape(call.again().shape),  # type: ignore[misc]
            )


def _parted(call: Call) -> Iterable[Proposal]:
    parts = call.again()
    if len(parts) == 2 and parts[0].shape == parts[1].shape:
        yield Proposal(
            "the two halves are taken for each other",
            "take the first half for what the reference takes it for",
            followed_by(lambda halves: type(halves)(reversed(halves))),
        )


def _axes(call: Call) -> Iterable[Proposal]:
    tensor = subject(call)
    if tensor is None or not 2 <= tensor.ndim <= 5:
        return
    shape = call.again().shape
    own = _order_of(call, tensor.ndim)
    for order in itertools.permutations(range(tensor.ndim)):
        if (
            order != own
            and tuple(tensor.shape[axis] for axis in order) == tuple(shape)
            and order != tuple(range(tensor.ndim))
        ):
            yield Proposal(
                f"the axes are put in the order {order}, not {own}",
                f"put them in the order {own}",
                lambda call, order=order: subject(call).permute(order),  # type: ignore[misc, union-attr]
            )
    if sum(n > 1 for n in shape) > 1:
        yield Proposal(
            "the axes are not moved: the same memory is read in another shape",
            "transpose or permute the axes; reshape leaves the numbers where they are",
            lambda call: subject(call).reshape(shape),  # type: ignore[union-attr]
        )


def _order_of(call: Call, ndim: int) -> tuple[int, ...]:
    order = list(range(ndim))
    if call.op == "permute":
        return tuple(axis % ndim for axis in call.arguments["dims"])
    a, b = (call.arguments.get(name, last) % ndim for name, last in (("dim0", -2), ("dim1", -1)))
    order[a], order[b] = order[b], order[a]
    return tuple(order)


def _picked(call: Call) -> Iterable[Proposal]:
    tensor, axis, index = call.arguments["self"], argument(call, "dim"), call.arguments["index"]
    if not isinstance(index, int):
        return
    size = tensor.shape[axis]
    own = index % size
    for other in dict.fromkeys((own - 1, own + 1, 0, size - 1)):
        if 0 <= other < size and other != own:
            yield Proposal(
                f"it takes place {other} of {size} along axis {axis}, not place {own}",
                f"take place {own}, as the reference does",
                with_(index=other),
            )


def _cut(call: Call) -> Iterable[Proposal]:
    tensor, axis = call.arguments["self"], argument(call, "dim")
    size, step = tensor.shape[axis], argument(call, "step")
    taken = range(*slice(argument(call, "start"), argument(call, "end"), step).indices(size))
    if not 0 < len(taken) < size:
        return
    moves = (-1, 1) if step == 1 else range(-taken[0], step - taken[0])
    for move in dict.fromkeys((*moves, -taken[0], size - 1 - taken[-1])):
        if move and taken[0] + move >= 0 and taken[-1] + move < size:
            yield Proposal(
                f"the slice of axis {axis} begins at {taken[0] + move}, not at {taken[0]}",
                f"let the slice begin at {taken[0]}",
                with_(start=taken[0] + move, end=taken[-1] + move + 1),
                rank=1 if _is_mask(tensor) else 0,
            )


def _is_mask(tensor: Tensor) -> bool:
    """One that is moved is best told where it is used, whatever moved it."""
    return tensor.ndim > 1 and tensor.unique().numel() == 2


def _looked_up(call: Call) -> Iterable[Proposal]:
    name = "indices" if call.op == "embedding" else "index"
    if not isinstance(call.arguments.get(name), Tensor):
        return
    for move in (-1, 1):
        yield Proposal(
            f"every index is {abs(move)} too {'low' if move < 0 else 'high'}",
            "count the index from where the reference counts it",
            changed(name, lambda index, move=move: index + move),  # type: ignore[misc]
        )


def _turned(call: Call) -> Iterable[Proposal]:
    yield Proposal("it is not reversed", "reverse it, as the reference does", lambda call: call.arguments["self"])


def _rolled(call: Call) -> Iterable[Proposal]:
    shifts = call.arguments["shifts"]
    yield Proposal("it is rolled the other way", f"roll by {shifts}", with_(shifts=[-one for one in shifts]))
    yield Proposal("it is not rolled", f"roll by {shifts}", lambda call: call.arguments["self"])


def _of(op: str, left: Any, right: Any) -> Tensor:
    compute: Callable[..., Tensor] = getattr(torch, op)
    return compute(torch.as_tensor(left), torch.as_tensor(right))


_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(_ARITHMETIC, _arithmetic),
    "rsub": _reversed_difference,
    **dict.fromkeys(("matmul", "bmm", "mm"), _product),
    **dict.fromkeys(("cat", "stack", "concat", "concatenate"), _joined),
    **dict.fromkeys(("chunk", "split", "split_with_sizes", "unbind"), _parted),
    **dict.fromkeys(("transpose", "permute", "t", "mT", "numpy_T"), _axes),
    "select": _picked,
    "slice": _cut,
    **dict.fromkeys(("gather", "index_select"), _looked_up),
    "flip": _turned,
    "roll": _rolled,
}
OPS = frozenset(_RULES)
