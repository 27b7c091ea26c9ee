"""The history of a tensor told link by link: which layer made which shape of which, on which line."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sleuth.dry.births import Birth
from sleuth.dry.crashes import _words
from sleuth.findings import Link

# A person reads so many lines; of a longer history the beginning and the end say most.
_MOST_LINKS = 14
_FARTHEST = 300
# Layers that no shape ever came to harm in.
_KEEP_SHAPES = {
    *("ReLU", "ReLU6", "LeakyReLU", "PReLU", "ELU", "SELU", "GELU", "SiLU", "Mish", "Sigmoid", "Tanh", "Softmax"),
    *("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "Identity", "Hardswish", "Softplus", "LogSoftmax"),
}
# They hand on what they were given, and a person does not think of them as steps.
TRANSPARENT = {"contiguous", "detach", "clone", "data", "grad", "pin_memory", "requires_grad_", "alias", "to", "cuda"}


def is_weight(birth: Birth) -> bool:
    return bool(birth.name) or any(one.operation == "parameter" for one in line(birth))


def line(birth: Birth) -> Iterator[Birth]:
    """From this birth along the first parents to the oldest known, without regard of what they are."""
    one: Birth | None = birth
    for _ in range(_FARTHEST):
        if one is None:
            return
        yield one
        one = one.parents[0] if one.parents else None


def trunk(birth: Birth) -> Iterator[Birth]:
    """From this birth back to the input: of several parents the first that is no weight."""
    one: Birth | None = birth
    for _ in range(_FARTHEST):
        if one is None:
            return
        yield one
        one = next((parent for parent in one.parents if not is_weight(parent)), None)


def source(birth: Birth) -> Birth:
    """The oldest on that way."""
    return list(trunk(birth))[-1]


def of_shapes(birth: Birth) -> list[Link]:
    """Every step that made another shape, and every layer, the input first."""
    return _told(birth, lambda one, before: one.shape != before.shape or _is_a_layer(one), _shape_made)


def of_devices(birth: Birth) -> list[Link]:
    """Where it was made, and every step that moved it."""
    return _told(birth, lambda one, before: one.device != before.device, _device_made)


def of_types(birth: Birth) -> list[Link]:
    """Where its type was first there, and every step that changed it."""
    return _told(birth, lambda one, before: one.dtype != before.dtype, _type_made)


def giver(birth: Birth, dimension: int) -> Birth:
    """The oldest in whose hands the size of this dimension, counted from the end, already was what it is now."""
    oldest, size = birth, birth.shape[dimension]
    for one in trunk(birth):
        if len(one.shape) != len(birth.shape) or one.shape[dimension] != size:
            break
        oldest = one
    return oldest


def _told(
    birth: Birth, matters: Callable[[Birth, Birth], bool], words: Callable[[Birth, Birth | None], str]
) -> list[Link]:
    steps = list(trunk(birth))[::-1]
    links = [Link(words(steps[0], None), steps[0].place)]
    before = steps[0]
    for one in steps[1:]:
        if matters(one, before):
            links.append(Link(words(one, before), one.place))
        if one.shape == before.shape or matters(one, before):
            before = one
    return _thinned(links)


def _thinned(links: list[Link]) -> list[Link]:
    if len(links) <= _MOST_LINKS:
        return links
    head, tail = links[:3], links[-(_MOST_LINKS - 4) :]
    return [*head, Link(f"… {len(links) - len(head) - len(tail)} steps more"), *tail]


def _is_a_layer(birth: Birth) -> bool:
    if not birth.layer or birth.operation in TRANSPARENT:
        return False
    return _words.is_of_torch(birth.layer) and _words.class_of(birth.layer) not in _KEEP_SHAPES


def _shape_made(birth: Birth, before: Birth | None) -> str:
    if before is None:
        return f"{_words.maker(birth)} gave {_words.shape(birth.shape)}"
    return f"{_words.maker(birth)} made {_words.shape(birth.shape)} of {_words.shape(before.shape)}"


def _device_made(birth: Birth, before: Birth | None) -> str:
    if before is None and birth.code is None:
        return f"{_words.shape(birth.shape)} was there before, on {birth.device}"
    if before is None:
        return f"{_words.maker(birth)} made {_words.shape(birth.shape)} on {birth.device}"
    return f"{_words.maker(birth)} moved it to {birth.device}"


def _type_made(birth: Birth, before: Birth | None) -> str:
    if before is None:
        return f"{_words.maker(birth)} gave {_words.shape(birth.shape)} of {birth.dtype}"
    return f"{_words.maker(birth)} made {birth.dtype} of {before.dtype}"
