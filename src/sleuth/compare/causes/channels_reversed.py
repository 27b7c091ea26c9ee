"""An image whose channels are read in the other order, or whose axes are taken for each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import changed
from sleuth.compare.reference import Call

OPS = frozenset({"input", "conv2d", "convolution"})
_COLOURS = (3, 4)


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    name = "value" if call.op == "input" else "input"
    image = call.arguments[name]
    if not isinstance(image, Tensor) or image.ndim not in (3, 4):
        return
    first = image.ndim == 4 or call.op != "input"
    for axis in (1,) if call.op != "input" else (1, -1) if first else (-1,):
        if image.shape[axis] in _COLOURS:
            for says, fix, change in _readings(axis % image.ndim, image):
                yield Proposal(says, fix, changed(name, change))


def _readings(axis: int, image: Tensor) -> Iterator[tuple[str, str, Callable[[Tensor], Tensor]]]:
    count = image.shape[axis]
    order = [2, 1, 0, *range(3, count)]
    yield (
        "its colours are read in the reverse order (BGR for RGB)",
        "reverse the channels once: image[..., ::-1], or cv2.cvtColor(image, cv2.COLOR_BGR2RGB)",
        lambda value: value.movedim(axis, -1)[..., order].movedim(-1, axis),
    )
    if image.ndim != 4:
        return
    shape = tuple(image.shape)
    moved = [one for one in range(1, 4) if one != axis]
    last = (
        (shape[0], *(shape[one] for one in moved), count)
        if axis == 1
        else (shape[0], count, *(shape[one] for one in moved))
    )
    yield (
        "its pixels are reshaped from one order of axes to the other, not transposed",
        "use transpose or permute to move the channels; reshape leaves the numbers where they are",
        lambda value: value.reshape(last).movedim(-1 if axis == 1 else 1, axis),
    )
    yield (
        "its pixels are reshaped from one order of axes to the other, not transposed",
        "use transpose or permute to move the channels; reshape leaves the numbers where they are",
        lambda value: value.movedim(axis, -1 if axis == 1 else 1).reshape(shape),
    )
    if shape[moved[0]] == shape[moved[1]]:
        yield (
            "its height and width are exchanged",
            "keep the order height, width",
            lambda value: value.transpose(moved[0], moved[1]),
        )
    for one, word in zip(moved, ("upside down", "mirrored left to right"), strict=True):
        yield f"its image is {word}", "turn it as the reference has it", lambda value, one=one: value.flip(one)  # type: ignore[misc]
