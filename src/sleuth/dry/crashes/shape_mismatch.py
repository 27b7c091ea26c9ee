"""Two shapes that do not go together, with the history of both."""

from __future__ import annotations

from math import prod

from sleuth.dry.births import Birth, Call
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Link

# More histories than these bury the two that differ.
_MOST_TOLD = 2
_MOST_SHOWN = 4


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if call is None or not call.births or not _messages.is_about_shapes(crash.message):
        return None
    return told(
        "shape-mismatch", crash, title=_title(call), evidence=_shapes(crash, call), chain=stories(_differing(call))
    )


def _title(call: Call) -> str:
    shapes = list(dict.fromkeys(_words.shape(birth.shape) for birth in _compared(call)))
    inside = f" in {_words.layer(call.layer)}" if call.layer else ""
    if call.operation in ("view", "reshape") and _wanted(call):
        has, wanted = prod(call.births[0].shape), _wanted(call)
        wants = f"{prod(wanted)} numbers" if -1 not in wanted else f"rows of {-prod(wanted)}"
        return f"{call.operation}{_words.shape(wanted)}{inside} wants {wants}, {shapes[0]} has {has}"
    if len(shapes) == 1:
        return f"{_words.operation(call.operation)}{inside} cannot be done with {shapes[0]}"
    return f"{_words.operation(call.operation)}{inside}: {' and '.join(shapes[:3])} do not go together"


def _shapes(crash: Crash, call: Call) -> list[Evidence]:
    births = list({id(birth): birth for birth in _compared(call)}.values())[:_MOST_SHOWN]
    names = [birth.name or _scene.nearest_name(crash, birth) for birth in births]
    return [
        Evidence(name or f"tensor {number}", _words.shape(birth.shape))
        for number, (name, birth) in enumerate(zip(names, births, strict=True), 1)
    ]


def _compared(call: Call) -> tuple[Birth, ...]:
    """The tensors that may disagree: data among themselves, or else data with weights."""
    data = tuple(birth for birth in call.births if not _history.is_weight(birth))
    return data if len({birth.shape for birth in data}) > 1 else call.births


def _wanted(call: Call) -> tuple[int, ...]:
    """The sizes a view asks for."""
    values = [argument.value for argument in call.arguments if argument.birth is None]
    flat = [one for value in values for one in (value if isinstance(value, list | tuple) else (value,))]
    return tuple(one for one in flat if isinstance(one, int))


def _differing(call: Call) -> list[Birth]:
    """One tensor of each shape, weights last: it is the data whose way is of interest."""
    by_shape: dict[tuple[int, ...], Birth] = {}
    for birth in sorted(call.births, key=_history.is_weight):
        by_shape.setdefault(birth.shape, birth)
    return list(by_shape.values())[:_MOST_TOLD]


def stories(births: list[Birth]) -> list[Link]:
    """The history of each, one after the other; where they share their beginning, it is told once."""
    links: list[Link] = []
    for birth in births:
        if _history.is_weight(birth) and birth.name:
            links.append(Link(f"{birth.name} has {_words.shape(birth.shape)}", birth.place))
        else:
            links += [link for link in _history.of_shapes(birth) if link not in links]
    return links
