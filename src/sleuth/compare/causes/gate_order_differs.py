"""A recurrent layer whose gates, biases or directions are stored in another order than they are read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument, changed, followed_by
from sleuth.compare.causes._recurrent import GATES, LAYERS, parameters, per_direction, regrouped, reordered
from sleuth.compare.reference import Call

_CELLS = {"lstm_cell": "lstm", "gru_cell": "gru"}
_SPLIT = frozenset({"chunk", "split", "split_with_sizes", "unbind"})
OPS = frozenset({*LAYERS, *_CELLS, *_SPLIT})
# Of the orders of an LSTM's gates, those that frameworks use.
_USUAL = {"i, g, f, o": (0, 2, 1, 3), "i, f, o, g": (0, 1, 3, 2), "i, o, f, g": (0, 3, 1, 2)}
_FIX_GATES = "reorder the gates' rows of the weights and biases when they are loaded"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in _SPLIT:
        return _of_split(call)
    if call.op in _CELLS:
        return _of_cell(call)
    return itertools.chain(_of_gates(call), _of_biases(call), _of_time(call))


def _of_gates(call: Call) -> Iterator[Proposal]:
    names = GATES.get(call.op)
    if names is None:
        return
    for order, read in _orders(names):
        yield Proposal(
            f"its gates are in the order {read}, not {', '.join(names)}",
            _FIX_GATES,
            lambda call, order=order: regrouped(call, lambda _, rows: reordered(rows, order)),  # type: ignore[misc]
        )
    yield from _of_one_layer(call, names)
    if per_direction(call) == 4 and call.op == "lstm":
        for read, order in _USUAL.items():
            for says, changed in (("biases", (2, 3)), ("weights", (0, 1))):
                yield Proposal(
                    f"the gates of its {says} alone are in the order {read}, not {', '.join(names)}",
                    _FIX_GATES,
                    _only(changed, order),
                )
    if call.op == "gru":
        yield Proposal(
            "its update gate is the other way round: it keeps of the old state what the reference replaces",
            "let z weigh the old state and 1 - z the new one, or change the sign of z's weights and biases",
            lambda call: regrouped(call, lambda _, rows: _with_block(rows, 3, 1, torch.neg)),
        )


def _of_one_layer(call: Call, names: Sequence[str]) -> Iterator[Proposal]:
    """Each layer and direction has arrays of its own, which are loaded one by one."""
    size, ways = per_direction(call), 2 if argument(call, "bidirectional") else 1
    blocks = len(parameters(call)) // size
    orders = {read: order for order, read in _orders(names)} if call.op == "gru" else _USUAL
    for block in range(blocks if blocks > 1 else 0):
        which = f"{'reversed ' if block % ways else ''}layer {block // ways}"
        for read, order in orders.items():
            yield Proposal(
                f"the gates of its {which} alone are in the order {read}, not {', '.join(names)}",
                _FIX_GATES,
                lambda call, block=block, order=order: call.again(  # type: ignore[misc]
                    params=[
                        reordered(one, order) if place // size == block else one
                        for place, one in enumerate(parameters(call))
                    ]
                ),
            )


def _only(changed: Sequence[int], order: Sequence[int]) -> Callable[[Call], Any]:
    return lambda call: regrouped(call, lambda which, rows: reordered(rows, order) if which in changed else rows)


def _of_biases(call: Call) -> Iterator[Proposal]:
    if per_direction(call) != 4:
        return
    yield Proposal(
        "the bias of the state is a copy of that of the input, so that it counts twice",
        "load each bias once",
        lambda call: _biases_from(call, 2),
    )
    if call.op == "lstm":
        for extra in (1.0, -1.0):
            yield Proposal(
                f"{extra:+g} is added to the bias of the forget gate",
                "a forget bias of 1 is a matter of initialisation: add it once, when training begins, not on loading",
                lambda call, extra=extra: _forget_bias(call, extra),  # type: ignore[misc]
            )
    if call.op == "gru":
        yield Proposal(
            "the two biases are added together before the layer, which a GRU's new state does not allow",
            "keep the two biases apart: b_hn is inside the product with the reset gate",
            _biases_added,
        )


def _forget_bias(call: Call, extra: float) -> Any:
    return regrouped(call, lambda which, rows: _with_block(rows, 4, 1, lambda one: one + extra) if which == 2 else rows)


def _biases_from(call: Call, which: int) -> Any:
    own = parameters(call)
    return call.again(params=[own[place // 4 * 4 + which] if place % 4 > 1 else one for place, one in enumerate(own)])


def _biases_added(call: Call) -> Any:
    own = parameters(call)
    both = [own[place] + own[place + 1] if place % 4 == 2 else one for place, one in enumerate(own)]
    return call.again(params=[one * (place % 4 != 3) for place, one in enumerate(both)])


def _of_time(call: Call) -> Iterator[Proposal]:
    axis = 1 if argument(call, "batch_first") else 0
    yield Proposal(
        "it reads the sequence from its end",
        "feed the sequence in the reference's direction",
        changed("input", lambda value: value.flip(axis)),
    )
    yield Proposal(
        "it reads the sequence from its end and gives its outputs in the reference's order",
        "feed the sequence in the reference's direction",
        lambda call: _turned(call.again(input=call.arguments["input"].flip(axis)), axis),
    )
    if not argument(call, "bidirectional"):
        return
    yield Proposal(
        "its two directions are exchanged",
        "load the forward weights into the forward layer and the reversed ones into the other",
        _directions_exchanged,
    )
    yield Proposal(
        "the outputs of the reversed direction are not put back in order",
        "reverse the outputs of the backward layer before they are joined",
        followed_by(lambda all_: (_half_turned(all_[0], axis), *all_[1:])),
    )
    yield Proposal(
        "the outputs of the two directions are joined in the other order",
        "join the forward outputs first",
        followed_by(lambda all_: (torch.cat(all_[0].chunk(2, -1)[::-1], -1), *all_[1:])),
    )


def _turned(all_: Any, axis: int) -> Any:
    return (all_[0].flip(axis), *all_[1:])


def _half_turned(outputs: Tensor, axis: int) -> Tensor:
    forward, backward = outputs.chunk(2, -1)
    return torch.cat([forward, backward.flip(axis)], -1)


def _directions_exchanged(call: Call) -> Any:
    own, size = parameters(call), per_direction(call)
    blocks = [own[start : start + size] for start in range(0, len(own), size)]
    return call.again(params=[one for place in range(len(blocks)) for one in blocks[place ^ 1]])


def _of_cell(call: Call) -> Iterator[Proposal]:
    names = GATES[_CELLS[call.op]]
    for order, read in _orders(names):
        yield Proposal(
            f"its gates are in the order {read}, not {', '.join(names)}",
            _FIX_GATES,
            lambda call, order=order: _cell_reordered(call, order),  # type: ignore[misc]
        )


def _cell_reordered(call: Call, order: Sequence[int]) -> Any:
    rows = {name: call.arguments.get(name) for name in ("w_ih", "w_hh", "b_ih", "b_hh")}
    return call.again(**{name: reordered(one, order) for name, one in rows.items() if isinstance(one, Tensor)})


def _of_split(call: Call) -> Iterator[Proposal]:
    """Gates cut from one product of four times the state's size."""
    parts = call.again()
    if len(parts) != 4 or len({part.shape for part in parts}) != 1:
        return
    for order in itertools.permutations(range(4)):
        if order != (0, 1, 2, 3):
            yield Proposal(
                f"the four gates are taken in the order {', '.join(str(one + 1) for one in order)}",
                _FIX_GATES,
                followed_by(lambda all_, order=order: type(all_)(all_[one] for one in order)),  # type: ignore[misc]
            )


def _orders(names: Sequence[str]) -> Iterator[tuple[tuple[int, ...], str]]:
    for order in itertools.permutations(range(len(names))):
        if order != tuple(range(len(names))):
            # The block at place p of the target's weights is read as gate p: the gate stored there is names[order[p]].
            yield order, ", ".join(names[one] for one in order)


def _with_block(rows: Tensor, count: int, which: int, change: Callable[[Tensor], Tensor]) -> Tensor:
    blocks = list(rows.chunk(count, 0))
    blocks[which] = change(blocks[which])
    return torch.cat(blocks, 0)
