"""A layer that was given another number of features or channels than it was made for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _making, _messages, _scene, _words
from sleuth.findings import Fix, Link


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a class of layers calls the number it expects, which argument of its constructor that is, and of which
    dimension of the input it speaks."""

    attribute: str
    position: int
    dimension: int
    noun: str


_CHANNELS = {1: -2, 2: -3, 3: -4}
_EXPECTED: dict[str, Expectation] = {
    "Linear": Expectation("in_features", 0, -1, "features"),
    "LayerNorm": Expectation("normalized_shape", 0, -1, "features"),
    "RMSNorm": Expectation("normalized_shape", 0, -1, "features"),
    "MultiheadAttention": Expectation("embed_dim", 0, -1, "features"),
    "BatchNorm1d": Expectation("num_features", 0, 1, "features"),
    "GroupNorm": Expectation("num_channels", 1, 1, "channels"),
    **{name: Expectation("input_size", 0, -1, "features") for name in ("LSTM", "GRU", "RNN")},
    **{f"{name}Cell": Expectation("input_size", 0, -1, "features") for name in ("LSTM", "GRU", "RNN")},
    **{f"Conv{n}d": Expectation("in_channels", 0, at, "channels") for n, at in _CHANNELS.items()},
    **{f"ConvTranspose{n}d": Expectation("in_channels", 0, at, "channels") for n, at in _CHANNELS.items()},
    **{f"BatchNorm{n}d": Expectation("num_features", 0, 1, "channels") for n in (2, 3)},
    **{f"InstanceNorm{n}d": Expectation("num_features", 0, at, "channels") for n, at in _CHANNELS.items()},
}
_INPUTS = ("input", "query", "x")


@dataclass(frozen=True, slots=True)
class Misfit:
    layer: str
    kind: str
    noun: str
    attribute: str
    expected: int
    given: int
    input: Birth
    dimension: int
    made: _making.Making | None
    fix: Fix

    @property
    def giver(self) -> Birth:
        """Who gave the input its number."""
        return _history.giver(self.input, self.dimension)

    @property
    def chain(self) -> list[Link]:
        expects = f"{self.layer} is made for {self.expected} {self.noun} and is given {self.given}"
        return [*_history.of_shapes(self.input), Link(expects, None if self.made is None else self.made.place)]


def misfit(crash: Crash) -> Misfit | None:
    """The layer at work and its input, where they do not go together."""
    at_work = _scene.layer(crash)
    if at_work is None or not _messages.is_about_shapes(crash.message):
        return None
    module, values = at_work
    kind = next((base.__name__ for base in type(module).__mro__ if base.__name__ in _EXPECTED), None)
    given = next((values[name] for name in _INPUTS if name in values), None)
    birth = _birth(crash, given)
    if kind is None or birth is None:
        return None
    expectation = _EXPECTED[kind]
    expected, size = _wanted(module, expectation), _size(birth, expectation.dimension)
    if expected is None or size is None or expected == size:
        return None
    made = _making.making(crash, module)
    return Misfit(
        _words.called(module, _scene.name_of(crash, module)),
        kind,
        expectation.noun,
        expectation.attribute,
        expected,
        size,
        birth,
        expectation.dimension - (len(birth.shape) if expectation.dimension > 0 else 0),
        made,
        _fix(made, kind, expectation, expected, size),
    )


def _birth(crash: Crash, value: Any) -> Birth | None:
    from torch import Tensor

    return crash.stage.births[value] if isinstance(value, Tensor) else None


def _wanted(module: Any, expectation: Expectation) -> int | None:
    value = getattr(module, expectation.attribute, None)
    if isinstance(value, tuple):
        value = value[0] if len(value) == 1 else None
    return value if isinstance(value, int) else None


def _size(birth: Birth, dimension: int) -> int | None:
    shape = birth.shape
    return shape[dimension] if -len(shape) <= dimension < len(shape) else None


def _fix(made: _making.Making | None, kind: str, expectation: Expectation, expected: int, given: int) -> Fix:
    title = f"{kind}({expectation.attribute} {expected} → {given})"
    return _making.with_argument(made, expectation.position, expectation.attribute, given, title)
