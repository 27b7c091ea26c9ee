"""Output (N, 1) against target (N,), in a loss or a subtraction: the difference is a table of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from sleuth import handbook
from sleuth.dry.births import Birth, Call
from sleuth.dry.watchers import Watcher
from sleuth.findings import Certainty, Evidence, Fix, Link, Place

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

Shape = tuple[int, ...]

_LOSSES = {
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
}
_DIFFERENCES = {"sub", "rsub", "subtract"}
# They put in, or keep, the dimension that a table of all pairs needs.
_SHAPING = {"unsqueeze", "getitem", "view", "reshape", "expand", "unflatten"}
# They count or lay out a grid: what is compared with them is compared with all of them.
_RANGES = {"arange", "linspace", "logspace", "range"}
# A coincidence of two sizes is told from a mistake by a second batch.
_TIMES = 2


class Watch(Watcher):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._seen: dict[Place | None, list[Call]] = {}
        # Lines that also compare unequal numbers of things: these mean all pairs.
        self._pairing: set[Place | None] = set()

    def called(self, call: Call, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        is_loss = call.operation in _LOSSES
        if not is_loss and call.operation not in _DIFFERENCES:
            return
        pair = _pair(args, kwargs)
        if pair is None or pair[0].requires_grad == pair[1].requires_grad:
            return
        one, other = _shape(pair[0]), _shape(pair[1])
        if not _crosses(one, other):
            return
        if len(one) == len(other) or _means_pairs(call):
            return
        if _squeezed(one) != _squeezed(other):
            self._pairing.add(call.place)
        elif is_loss:
            self._tell(call, "certain")
        else:
            calls = self._seen.setdefault(call.place, [])
            calls.append(call)
            if len(calls) == _TIMES and call.place not in self._pairing:
                self._tell(call, "likely")

    def ended(self, error: BaseException | None) -> None:
        for place, calls in self._seen.items():
            if len(calls) < _TIMES and place not in self._pairing:
                self._tell(calls[0], "likely")

    def _tell(self, call: Call, certainty: Certainty) -> None:
        first, second = call.births[:2]
        shape = tuple(torch.broadcast_shapes(first.shape, second.shape))
        self.stage.journal.finding(
            handbook.finding(
                "loss-broadcast",
                place=call.place,
                certainty=certainty,
                evidence=(
                    Evidence("shape of one", first.shape),
                    Evidence("shape of the other", second.shape),
                    Evidence("broadcast", shape),
                ),
                chain=(
                    *(Link(_origin(birth), birth.place) for birth in (first, second)),
                    Link(
                        f"{first.shape} and {second.shape} are broadcast to {shape}: all outputs meet all targets",
                        call.place,
                    ),
                    Link("the best answer is then the mean of all targets, for every sample"),
                ),
                fixes=(Fix("bring both to one shape: output.squeeze(1), or target.unsqueeze(1)"),),
            )
        )


def _pair(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any] | None:
    tensors = [one for one in (*args, *kwargs.values()) if isinstance(one, torch.Tensor)]
    return (tensors[0], tensors[1]) if len(tensors) >= 2 else None


def _shape(tensor: Any) -> Shape:
    return tuple(tensor.shape)


def _squeezed(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _crosses(one: Shape, other: Shape) -> bool:
    """Do both grow when they are broadcast against each other?"""
    longest = max(len(one), len(other))
    pairs = list(zip((1,) * (longest - len(one)) + one, (1,) * (longest - len(other)) + other, strict=True))
    return any(x == 1 < y for x, y in pairs) and any(y == 1 < x for x, y in pairs)


def _means_pairs(call: Call) -> bool:
    """Is the column made on this very line, or is one side a fixed grid of numbers?"""
    one, other = call.births[:2]
    column = max(one, other, key=lambda birth: len(birth.shape))
    return _is_shaped_here(column, call) or _is_grid(one, other) or _is_grid(other, one)


def _is_shaped_here(birth: Birth, call: Call) -> bool:
    here, there = call.place, birth.place
    return (
        birth.operation in _SHAPING
        and here is not None
        and there is not None
        and (here.path, here.line) == (there.path, there.line)
    )


def _is_grid(birth: Birth, other: Birth) -> bool:
    """A buffer of the model, or points of a range that the other does not come from: all of them are meant."""
    if birth.name:
        return True
    sources = {one for one in birth.ancestors() if not one.parents}
    return all(one.operation in _RANGES for one in sources) and sources.isdisjoint(other.ancestors())


def _origin(birth: Birth) -> str:
    inside = f" in the layer {birth.layer}" if birth.layer else ""
    return f"{birth.operation}{inside} gives {birth.shape}"
