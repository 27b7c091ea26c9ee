"""`view` of a transposed tensor, which would join axes that do not lie next to each other in memory."""

from __future__ import annotations

from itertools import pairwise

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import shapes, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = ("tensor.view",)
# Operations whose results lie in memory in the order of their axes, and those that keep the order they were given.
_IN_ORDER = frozenset(
    "linear matmul view reshape flatten cat stack embedding contiguous zeros ones rand randn full empty tensor softmax "
    "log_softmax batch randint arange".split()
)
_AS_BEFORE = frozenset("dropout relu leaky_relu sigmoid tanh to float half cuda cpu detach clone masked_fill".split())
# Ranks a tensor of unknown rank may have; the rule must hold for all of them.
_RANKS = range(2, 7)


def call(site: Site) -> Finding | None:
    turned = site.receiver
    if turned is None or turned.op not in ("transpose", "permute", "attr:T") or site.star or not turned.inputs:
        return None
    sizes = shapes.sizes_given(site.args)
    start = _start(turned.inputs[0])
    if start is None or sizes is None or any(one.kind in ("api", "dtype", "text") for one in sizes):
        return None
    orders = _orders(turned)
    axes = sum(one.const != 1 for one in sizes)
    if not orders or not all(axes <= _breaks(order) for order in orders):
        return None
    file = site.spot.file
    _, (line, column) = file.span(site.node.func)
    word = "transpose" if turned.op == "attr:T" else turned.op
    known = not start.op.startswith("param:")
    return tell.found(
        "view-after-transpose",
        site,
        certainty="certain" if known else "likely",
        severity="error" if known else "warning",
        chain=[
            tell.because(turned, f"{word} changes the order of the axes and leaves the numbers where they lie"),
            tell.because(
                site.node, "view would have to join axes that are not neighbours in memory: it raises an error", file
            ),
        ],
        fixes=[
            Fix(
                "use reshape, which copies where it must",
                (Edit(file.shown, line, column - 4, line, column, "reshape"),),
                safe=True,
            )
        ],
    )


def _start(value: Value) -> Value | None:
    """What a tensor was before it was turned, if its numbers lay in order then."""
    for _ in range(8):
        if value.op in _IN_ORDER or value.op.startswith("param:"):
            return value
        if value.op not in _AS_BEFORE or not value.inputs:
            return None
        value = value.inputs[0]
    return None


def _orders(turned: Value) -> list[tuple[int, ...]]:
    """The orders of axes it may have, one for each rank it may be of."""
    base = turned.inputs[0]
    if base.shape is not None and 1 in base.shape:
        return []  # an axis of one element can be moved freely
    if turned.op == "permute":
        order = shapes.permutation(turned.inputs, turned.options)
        return [] if order is None else [order]
    ranks = [len(base.shape)] if base.shape is not None else list(_RANKS)
    if turned.op == "attr:T" or len(turned.inputs) == 1:
        return [tuple(reversed(range(rank))) for rank in ranks if rank == 2]
    if len(turned.inputs) != 3:
        return []
    a, b = shapes.size_of(turned.inputs[1]), shapes.size_of(turned.inputs[2])
    if a is None or b is None or a == b:
        return []
    return [_swapped(rank, a, b) for rank in ranks if -rank <= min(a, b) and max(a, b) < rank]


def _swapped(rank: int, a: int, b: int) -> tuple[int, ...]:
    order = list(range(rank))
    order[a % rank], order[b % rank] = order[b % rank], order[a % rank]
    return tuple(order)


def _breaks(order: tuple[int, ...]) -> int:
    """How many neighbours in the new order are none in memory. A view needs one axis more than that."""
    return sum(after != before + 1 for before, after in pairwise(order))
