"""Query, key and value, or the heads, taken from a projection in another order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import argument, followed_by
from sleuth.compare.causes._attention import ATTENTION
from sleuth.compare.causes._calls import subject
from sleuth.compare.reference import Call

_SHAPED = frozenset({"view", "reshape", "unflatten", "_unsafe_view"})
_SPLIT = frozenset({"chunk", "split", "split_with_sizes", "unbind", "tensor_split"})
OPS = frozenset(
    {*ATTENTION, *_SHAPED, *_SPLIT, "linear", "addmm", "permute", "transpose", "cat", "repeat", "repeat_interleave"}
)
_NAMES = "qkv"
_PARTS = ("query", "key", "value")
_MOST_HEADS = 8


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in ATTENTION:
        return _of_attention(call)
    if call.op in _SPLIT:
        return _of_split(call)
    if call.op in _SHAPED:
        return _of_shape(call)
    if call.op in ("linear", "addmm"):
        return _of_fused(call)
    if call.op == "cat":
        return _of_rotation(call)
    if call.op in ("repeat", "repeat_interleave"):
        return _of_shared_heads(call)
    return _of_moved(call)


def _orders() -> Iterator[tuple[tuple[int, ...], str]]:
    for order in itertools.permutations(range(3)):
        if order != (0, 1, 2):
            read = ", ".join(_NAMES[one] for one in order)
            yield order, f"the projection is read in the order {read}, not q, k, v"


_FIX_ORDER = "take query, key and value in the order in which the weights hold them: q, k, v"
_FIX_HEADS = "part and join the heads in the order of axes that the reference has"


def _of_attention(call: Call) -> Iterator[Proposal]:
    if len({call.arguments[name].shape for name in _PARTS}) == 1:
        for order, says in _orders():
            yield Proposal(says, _FIX_ORDER, lambda call, order=order: _attended(call, order))  # type: ignore[misc]


def _attended(call: Call, order: tuple[int, ...]) -> Tensor:
    exchanged = {name: call.arguments[_PARTS[one]] for name, one in zip(_PARTS, order, strict=True)}
    return torch.as_tensor(call.again(**exchanged))


def _of_split(call: Call) -> Iterator[Proposal]:
    parts = call.again()
    if len(parts) != 3 or len({part.shape for part in parts}) != 1:
        return
    for order, says in _orders():
        yield Proposal(says, _FIX_ORDER, followed_by(lambda all_, order=order: type(all_)(all_[one] for one in order)))  # type: ignore[misc]
    whole, axis = call.arguments["self"], argument(call, "dim") % call.arguments["self"].ndim
    if call.op == "unbind" or axis != whole.ndim - 1:
        return
    for heads in _divisors(whole.shape[axis] // 3):
        yield Proposal(
            f"the projection is read as {heads} heads of q, k, v each, not as q, k and v of all heads",
            "take the whole of q, then of k, then of v, as the weights hold them",
            lambda call, heads=heads: call.again(self=_blocked(call.arguments["self"], heads)),  # type: ignore[misc]
        )


def _blocked(whole: Tensor, heads: int) -> Tensor:
    """What is [head, q k v, place] in memory, as [q k v, head, place]."""
    return _regrouped(whole, (heads, 3, -1))


def _interleaved(whole: Tensor, heads: int) -> Tensor:
    return _regrouped(whole, (3, heads, -1))


def _regrouped(whole: Tensor, groups: tuple[int, int, int]) -> Tensor:
    cut = whole.reshape(*whole.shape[:-1], *groups)
    return cut.transpose(-3, -2).reshape(whole.shape)


def _of_shape(call: Call) -> Iterator[Proposal]:
    tensor, result = subject(call), call.again()
    if tensor is None or not isinstance(result, Tensor) or tensor.ndim < 2:
        return
    start = 0
    while start < min(tensor.ndim, result.ndim) and tensor.shape[start] == result.shape[start]:
        start += 1
    before, after = tensor.shape[start:], result.shape[start:]
    if start and len(before) == 1 and len(after) in (2, 3):
        yield from _parted(after)
    elif start > 1 and len(before) == 2 and len(after) == 1 and min(before) > 1:
        yield Proposal(
            f"the heads are joined as {before[1]} x {before[0]}, not as {before[0]} x {before[1]}",
            _FIX_HEADS,
            lambda call: call.again(self=subject(call).transpose(start, start + 1).contiguous()),  # type: ignore[union-attr]
        )


def _parted(after: tuple[int, ...]) -> Iterator[Proposal]:
    """One axis cut into several: the same numbers cut in another order, then put into this one."""
    for order in itertools.permutations(range(len(after))):
        if order == tuple(range(len(after))) or sum(after[one] > 1 for one in order) < 2:
            continue
        cut = [after[one] for one in order]
        back = [order.index(one) - len(after) for one in range(len(after))]
        yield Proposal(
            f"the axis is cut into {' x '.join(map(str, cut))}, not into {' x '.join(map(str, after))}",
            _FIX_HEADS,
            lambda call, cut=cut, back=back: _cut(call, cut, back),  # type: ignore[misc]
        )
    if after[0] == 3 and len(after) == 3:
        for way, says in _orders():
            yield Proposal(says, _FIX_ORDER, followed_by(_along(-3, way)))


def _cut(call: Call, cut: list[int], back: list[int]) -> Tensor:
    own: Tensor = call.again()
    wide = own.reshape(*own.shape[: -len(cut)], *cut)
    leading = range(wide.ndim - len(cut))
    return wide.permute(*leading, *(wide.ndim + axis for axis in back))


def _of_fused(call: Call) -> Iterator[Proposal]:
    """A projection three times as wide as what goes in: its rows in another order."""
    tensor, result = call.arguments.get("input", call.arguments.get("mat1")), call.again()
    width = result.shape[-1]
    if not isinstance(tensor, Tensor) or width != 3 * tensor.shape[-1]:
        return
    for order, says in _orders():
        yield Proposal(
            says,
            _FIX_ORDER,
            followed_by(lambda whole, order=order: whole.unflatten(-1, (3, -1))[..., list(order), :].flatten(-2)),  # type: ignore[misc]
        )
    for heads in _divisors(width // 3):
        for made, says in (
            (_blocked, f"the rows of the projection are in {heads} heads of q, k, v each, not q, k and v of all heads"),
            (
                _interleaved,
                f"the rows of the projection are q, k and v of all heads, not {heads} heads of q, k, v each",
            ),
        ):
            yield Proposal(
                says,
                "reorder the rows of the weight and of the bias when they are loaded",
                followed_by(lambda whole, made=made, heads=heads: made(whole, heads)),  # type: ignore[misc]
            )


def _of_moved(call: Call) -> Iterator[Proposal]:
    tensor, result = subject(call), call.again()
    if tensor is None or result.ndim != 5 or call.op != "permute" or 3 not in result.shape:
        return
    axis = list(result.shape).index(3)
    for order, says in _orders():
        yield Proposal(says, _FIX_ORDER, followed_by(_along(axis, order)))


def _along(axis: int, order: tuple[int, ...]) -> Callable[[Tensor], Tensor]:
    return lambda whole: whole.index_select(axis, torch.tensor(order))


def _of_rotation(call: Call) -> Iterator[Proposal]:
    """Rotary embedding: pairs of neighbours, or of the first and the second half."""
    parts = call.arguments["tensors"]
    if (
        len(parts) != 2
        or parts[0].shape != parts[1].shape
        or argument(call, "dim") % parts[0].ndim != parts[0].ndim - 1
    ):
        return
    yield Proposal(
        "the pairs are neighbours (0, 1), (2, 3) …, and the reference pairs the first half with the second",
        "pair the places as the reference does, or reorder the rows of the query's and key's weights",
        lambda call: torch.stack(list(call.arguments["tensors"]), -1).flatten(-2),
    )
    yield Proposal(
        "the rotary embedding turns neighbours (0, 1), (2, 3) …, and the reference's the first half with the second",
        "pair the places as the reference does, or reorder the rows of the query's and key's weights",
        _neighbours_turned,
    )


def _neighbours_turned(call: Call) -> Tensor:
    minus_second, first = call.arguments["tensors"]
    whole = torch.cat([first, -minus_second], -1)
    return torch.stack([-whole[..., 1::2], whole[..., ::2]], -1).flatten(-2)


def _of_shared_heads(call: Call) -> Iterator[Proposal]:
    """Grouped queries: a b c → a a b b c c, or a b c a b c."""
    tensor, result = call.arguments["self"], call.again()
    grown = [axis for axis in range(-tensor.ndim, 0) if tensor.shape[axis] != result.shape[axis]]
    if result.ndim != tensor.ndim or len(grown) != 1 or tensor.shape[grown[0]] < 2:
        return
    axis = grown[0]
    times = result.shape[axis] // tensor.shape[axis]
    tiles = [times if one == axis else 1 for one in range(-tensor.ndim, 0)]
    if call.op == "repeat":
        yield Proposal(
            "each head is repeated in its place, not all of them in turn",
            _FIX_HEADS,
            lambda call: call.arguments["self"].repeat_interleave(times, axis),
        )
    else:
        yield Proposal(
            "all heads are repeated in turn, not each in its place",
            _FIX_HEADS,
            lambda call: call.arguments["self"].repeat(tiles),
        )


def _divisors(width: int) -> list[int]:
    """Numbers of heads that are usual: a head is not narrower than 2."""
    return [n for n in (2, 3, 4, 6, 8, 12, 16, 20, 24, 32) if width % n == 0 and width // n >= 2][:_MOST_HEADS]
