"""A convolution padded otherwise: more on one side, as SAME in TensorFlow, not at all, or with other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torch.nn import functional

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import CONVOLUTIONS, TRANSPOSED_CONVOLUTIONS, argument, per_axis
from sleuth.compare.reference import Call, Override

OPS = CONVOLUTIONS | TRANSPOSED_CONVOLUTIONS | {"pad"}
# Before and after, axis by axis.
_Ends = tuple[tuple[int, int], ...]
_MODES = {
    "constant": "zeros",
    "reflect": "a reflection",
    "replicate": "copies of the border",
    "circular": "the other end",
}


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if call.op in TRANSPOSED_CONVOLUTIONS:
        yield from _cropped_otherwise(call)
    elif call.op == "pad":
        yield from _of_pad(call)
    else:
        yield from _of_window(call)


def _of_window(call: Call) -> Iterator[Proposal]:
    window = _Window(call)
    for ends, name in window.others():
        yield _proposal(ends, window.own, _padded_by_hand(ends), name)
    if any(n for pair in window.own for n in pair):
        for mode in ("reflect", "replicate", "circular"):
            yield _in_mode(mode, "constant", _padded_by_hand(window.own, mode=mode))


class _Window:
    """The sizes of a sliding window, axis by axis, and where its padding can lie."""

    def __init__(self, call: Call) -> None:
        kernel = call.arguments["weight"].shape[2:]
        axes = len(kernel)
        self.stride = per_axis(argument(call, "stride"), axes)
        dilation = per_axis(argument(call, "dilation"), axes)
        self.size = list(call.arguments["input"].shape[-axes:])
        self.reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
        self.out = list(call.again().shape[-axes:])
        self.own = _own_ends(argument(call, "padding"), self.reach)

    def others(self) -> Iterator[tuple[_Ends, str]]:
        """Without those that come to the same."""
        seen = {self._effect(self.own)}
        least = self._least(self.out)
        as_same = self._least([-(-size // step) for size, step in zip(self.size, self.stride, strict=True)])
        ways: list[tuple[_Ends, str]] = [
            (tuple((n // 2, n - n // 2) for n in as_same), ", as TensorFlow's SAME does"),
            (tuple((n // 2, n - n // 2) for n in least), ", as TensorFlow's SAME does"),
            (tuple((n - n // 2, n // 2) for n in least), ""),
            (tuple((0, n) for n in least), ""),
            (tuple((n, 0) for n in least), ""),
            (tuple(((n + 1) // 2, (n + 1) // 2) for n in least), ""),
            (tuple(((reach - 1) // 2, (reach - 1) // 2) for reach in self.reach), ""),
            (tuple((0, 0) for _ in self.reach), ""),
        ]
        for ends, name in ways:
            if self._effect(ends) not in seen:
                seen.add(self._effect(ends))
                yield ends, name

    def _least(self, out: Sequence[int]) -> list[int]:
        """The padding that so many positions need at least."""
        sizes = zip(out, self.stride, self.reach, self.size, strict=True)
        return [max((count - 1) * step + reach - size, 0) for count, step, reach, size in sizes]

    def _effect(self, ends: _Ends) -> tuple[tuple[int, int], ...]:
        """Where the first window lies, and how many there are: what is left over at the end is not looked at."""
        sizes = zip(ends, self.size, self.reach, self.stride, strict=True)
        return tuple((before, (size + before + after - reach) // step) for (before, after), size, reach, step in sizes)


def _own_ends(padding: Any, reach: Sequence[int]) -> _Ends:
    if padding == "same":
        return tuple(((n - 1) // 2, n - 1 - (n - 1) // 2) for n in reach)
    if isinstance(padding, str):
        return tuple((0, 0) for _ in reach)
    return tuple((n, n) for n in per_axis(padding, len(reach)))


def _padded_by_hand(ends: _Ends, mode: str = "constant") -> Override:
    def apply(call: Call) -> Any:
        padding = argument(call, "padding")
        none: Any = "valid" if isinstance(padding, str) else [0] * len(ends)
        return call.again(input=functional.pad(call.arguments["input"], _flat(ends), mode), padding=none)

    return apply


def _cropped_otherwise(call: Call) -> Iterator[Proposal]:
    """A transposed convolution is cut, not padded: what the padding says is what is left out at each end."""
    axes = call.arguments["weight"].ndim - 2
    own = per_axis(argument(call, "padding"), axes)
    out = list(call.again().shape[-axes:])
    whole = list(_uncut(call).shape[-axes:])
    spare = [full - size for full, size in zip(whole, out, strict=True)]
    if min(spare) < 0:
        return
    seen = {tuple(own)}
    for change in (lambda n: n // 2, lambda n: n - n // 2, lambda n: 0, lambda n: n):
        starts = tuple(change(n) for n in spare)
        if starts not in seen:
            seen.add(starts)
            ends = tuple((start, n - start) for start, n in zip(starts, spare, strict=True))
            own_ends = tuple((start, n - start) for start, n in zip(own, spare, strict=True))
            says = f"of its transposed convolution {_shown(ends)} is cut off, not {_shown(own_ends)}"
            yield Proposal(says, f"cut off {_shown(own_ends)}, as the reference does", _cut(starts, tuple(out)))


def _uncut(call: Call) -> Any:
    axes = call.arguments["weight"].ndim - 2
    return call.again(padding=[0] * axes, output_padding=[0] * axes)


def _cut(starts: tuple[int, ...], out: tuple[int, ...]) -> Override:
    def apply(call: Call) -> Any:
        places = (slice(start, start + size) for start, size in zip(starts, out, strict=True))
        return _uncut(call)[(..., *places)]

    return apply


def _of_pad(call: Call) -> Iterator[Proposal]:
    flat, own_mode = list(call.arguments["pad"]), argument(call, "mode") or "constant"
    own: _Ends = tuple((flat[i], flat[i + 1]) for i in range(len(flat) - 2, -1, -2))
    changes: list[Callable[[int, int], tuple[int, int]]] = [
        lambda a, b: (b, a),
        lambda a, b: ((a + b + 1) // 2, (a + b + 1) // 2),
        lambda a, b: ((a + b) // 2, a + b - (a + b) // 2),
        lambda a, b: (0, a + b),
        lambda a, b: (a + b, 0),
        lambda a, b: (0, 0),
    ]
    seen = {own}
    for change in changes:
        ends = tuple(change(*pair) for pair in own)
        if ends not in seen:
            seen.add(ends)
            yield _proposal(ends, own, _pad(pad=_flat(ends)), "")
    for mode in _MODES:
        if mode != own_mode and any(flat):
            yield _in_mode(mode, own_mode, _pad(mode=mode))


def _pad(**changed: Any) -> Override:
    def apply(call: Call) -> Any:
        arguments = {"pad": argument(call, "pad"), "mode": argument(call, "mode") or "constant", **changed}
        return functional.pad(call.arguments["self"], arguments["pad"], arguments["mode"])

    return apply


def _in_mode(mode: str, own: str, apply: Override) -> Proposal:
    return Proposal(f"it pads with {_MODES[mode]}, not with {_MODES[own]}", f"pad with {_MODES[own]}", apply)


def _proposal(ends: _Ends, own: _Ends, apply: Override, note: str) -> Proposal:
    return Proposal(
        f"it pads {_shown(ends)}{note}, not {_shown(own)}", f"pad {_shown(own)}, as the reference does", apply
    )


def _shown(ends: _Ends) -> str:
    """The axes that are padded alike are told once."""
    if len(set(ends)) == 1:
        return f"{ends[0][0]} before and {ends[0][1]} after"
    return " and ".join(f"({before} before, {after} after)" for before, after in ends)


def _flat(ends: _Ends) -> list[int]:
    """As `F.pad` wants them: the last axis first."""
    return [n for pair in reversed(ends) for n in pair]
