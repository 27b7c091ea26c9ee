"""Two shapes that do not go together, with the history of both."""

from __future__ import annotations

from sleuth.dry.births import Argument, Birth, Call
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Evidence, Finding, Link

# More histories than these bury the two that differ.
_MOST_TOLD = 2


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if call is None or not call.births or not _messages.is_about_shapes(crash.message):
        return None
    return told("shape-mismatch", crash, title=_title(call), evidence=_shapes(call), chain=stories(_differing(call)))


def _title(call: Call) -> str:
    shapes = list(dict.fromkeys(_words.shape(birth.shape) for birth in call.births))
    inside = f" in {call.layer}" if call.layer else ""
    if len(shapes) == 1:
        return f"{_words.operation(call.operation)}{inside} cannot be done with {shapes[0]}"
    return f"{_words.operation(call.operation)}{inside}: {' and '.join(shapes[:3])} do not go together"


def _shapes(call: Call) -> list[Evidence]:
    return [Evidence(named(argument), _words.shape(birth.shape)) for argument, birth in tensors(call)[:4]]


def tensors(call: Call) -> list[tuple[Argument, Birth]]:
    return [(argument, argument.birth) for argument in call.arguments if argument.birth is not None]


def named(argument: Argument) -> str:
    """What an argument is called; a bare position says "argument 2"."""
    if argument.birth is not None and argument.birth.name:
        return argument.birth.name
    return f"argument {int(argument.name) + 1}" if argument.name.isdigit() else argument.name


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
