"""`view(B, D, L)` of a tensor of shape (B, L, D): the sizes change places, the numbers do not."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import shapes, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = ("tensor.view", "tensor.reshape", "torch.reshape", "numpy.reshape", "array.reshape", "?.view", "?.reshape")
# Sizes that are surely the channels of an image: then a literal (3, 32, 32) to (32, 32, 3) is a swap of axes.
_CHANNELS = (3, 4)
# Tricks that cut the numbers anew on purpose: relative positions in attention, channel shuffling.
_CUT_ANEW = ("shift", "skew", "shuffle")
_UNCHANGED = frozenset("contiguous clone to cpu cuda float double half detach dropout relu numpy type".split())


def call(site: Site) -> Finding | None:
    sizes = shapes.sizes_given(site.operands[1:])
    if sizes is None or len(sizes) < 3 or site.star:
        return None
    function = site.spot.function
    if function is not None and any(word in function.name.lower() for word in _CUT_ANEW):
        return None
    tensor = site.operands[0]
    order = _by_name(tensor, sizes) or _by_number(tensor, sizes)
    if order is None:
        return None
    file, variable = site.spot.file, site.spot.file.source(_subject(site))
    moved = f"{variable}.permute({', '.join(map(str, order))})"
    if tensor.kind == "array" or site.name.startswith("numpy."):
        moved = f"{variable}.transpose({', '.join(map(str, order))})"
    return tell.found(
        "view-as-permute",
        site,
        certainty="likely",
        severity="warning",
        title=f"{site.name.rpartition('.')[2]} asks for the same sizes in another order: the numbers get mixed up",
        chain=[tell.because(site.node, "it cuts the numbers anew in the order they lie; no axis is moved", file)],
        fixes=[Fix(f"move the axes: {moved}", (tell.replace(file, site.node, moved),))],
    )


def _subject(site: Site) -> ast.AST:
    subject: ast.AST = site.node.func.value if site.receiver is not None else site.node.args[0]
    return subject


def _by_name(tensor: Value, sizes: list[Value]) -> tuple[int, ...] | None:
    """The sizes were read from this very tensor, all of them, and come back in another order."""
    order = []
    for one in sizes:
        read = shapes.dimension_read(one)
        if read is None or not _is_same(tensor, read[0]) or read[1] < 0:
            return None
        order.append(read[1])
    whole = sorted(order) == list(range(len(order))) and order != sorted(order)
    rank = None if tensor.shape is None else len(tensor.shape)
    return tuple(order) if whole and rank in (None, len(order)) and _all_read(sizes) else None


def _all_read(sizes: list[Value]) -> bool:
    """`b, l, d = x.shape` tells that there are no more axes; x.size(1) alone does not."""
    first = sizes[0]
    return first.op.startswith("item:") or (bool(first.inputs) and first.inputs[0].shape is not None)


def _is_same(tensor: Value, source: Value) -> bool:
    """The tensor whose shape was read, or one made from it that has the same order of axes."""
    for _ in range(6):
        if tensor is source:
            return True
        if tensor.op not in _UNCHANGED or not tensor.inputs:
            return False
        tensor = tensor.inputs[0]
    return False


def _by_number(tensor: Value, sizes: list[Value]) -> tuple[int, ...] | None:
    """An image whose channels change from first to last place by literal sizes."""
    shape, asked = tensor.shape, [one.const for one in sizes]
    if shape is None or None in shape or not all(isinstance(one, int) for one in asked) or len(shape) != len(asked):
        return None
    first, last = len(shape) - 3, len(shape) - 1
    to_last = (*range(first), first + 1, first + 2, first)
    to_first = (*range(first), last, first, first + 1)
    for order, channels in ((to_last, shape[first]), (to_first, shape[last])):
        turned = tuple(shape[axis] for axis in order)
        if channels in _CHANNELS and tuple(asked) == turned and turned != shape:
            return order
    return None
