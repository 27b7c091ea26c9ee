"""Every call of a layer, symbolic or with numbers: what it was given, what it gave, on which line."""

from __future__ import annotations

import contextlib
import functools
import sys
from typing import Any

import keras

from sleuth.dry.births import Argument, Birth, Call
from sleuth.dry.keras.cost import operations_of
from sleuth.dry.keras.notes import Failed, Line, Notes, dtype_of
from sleuth.program import users_frame


def install(notes: Notes) -> None:
    _tell_layers(notes)
    _tell_operations(notes)
    _tell_building(notes)


def _tell_layers(notes: Notes) -> None:
    original = keras.Layer.__call__

    @functools.wraps(original)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _noted(notes, self, lambda: original(self, *args, **kwargs), args, kwargs)

    notes.stage.patches.set(keras.Layer, "__call__", call)


def _tell_operations(notes: Notes) -> None:
    """`keras.ops` on symbolic tensors, and their arithmetic."""
    original = keras.Operation.symbolic_call

    @functools.wraps(original)
    def symbolic_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(self, keras.Layer):
            return original(self, *args, **kwargs)
        return _noted(notes, self, lambda: original(self, *args, **kwargs), args, kwargs)

    notes.stage.patches.set(keras.Operation, "symbolic_call", symbolic_call)


def _tell_building(notes: Notes) -> None:
    """A Sequential calls its layers when it is made: none of these calls is the user's."""
    original = keras.Sequential.build

    @functools.wraps(original)
    def build(self: Any, *args: Any, **kwargs: Any) -> Any:
        notes.callers.append(users_frame(sys._getframe(1)))
        try:
            return original(self, *args, **kwargs)
        finally:
            notes.callers.pop()

    notes.stage.patches.set(keras.Sequential, "build", build)


def _noted(notes: Notes, layer: Any, run: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    frame = users_frame(sys._getframe(2))
    by_container = notes.by_container(frame)
    line = notes.line_of(layer, frame)
    given: tuple[Argument, ...] = ()
    with _quietly():
        given = _arguments(notes, args, kwargs)
    stage, outer = notes.stage, notes.stage.layer
    stage.layer = title_of(layer)
    notes.callers.append(frame)
    try:
        result = run()
    except Exception as error:
        call = Call(type(layer).__name__, given, title_of(layer), *(line or (None, 0)))
        notes.fails(Failed(error, "layer", layer, call, by_container))
        raise
    finally:
        notes.callers.pop()
        stage.layer = outer
    with _quietly():
        _note_results(notes, layer, given, line, result)
    return result


def _quietly() -> contextlib.AbstractContextManager[None]:
    """What cannot be described is left out of the story: a program must not fail because of it."""
    return contextlib.suppress(Exception)


def _arguments(notes: Notes, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Argument, ...]:
    found = []
    for name, value in (*((str(i), one) for i, one in enumerate(args)), *kwargs.items()):
        for number, leaf in enumerate(leaves := tensors_in(value)):
            source, line, called = _source(notes, leaf)
            birth = notes.birth(leaf, source, line, called)
            found.append(Argument(name if len(leaves) == 1 else f"{name}[{number}]", birth))
    return tuple(found)


def _source(notes: Notes, tensor: Any) -> tuple[str, Line | None, str]:
    """What to call a tensor that no call noted here made: a `keras.Input`, or data."""
    history = getattr(tensor, "_keras_history", None)
    if history is not None and isinstance(history.operation, keras.layers.InputLayer):
        return "Input", notes.made.get(history.operation), history.operation.name
    frame = notes.callers[0] if notes.callers else None
    return "data", None if frame is None else (frame.f_code, frame.f_lasti), ""


def _note_results(notes: Notes, layer: Any, given: tuple[Argument, ...], line: Line | None, result: Any) -> None:
    parents = tuple(argument.birth for argument in given if argument.birth is not None)
    code, instruction = line or (None, 0)
    innermost = not isinstance(layer, keras.Layer) or not layer._layers
    if isinstance(layer, keras.Model):
        notes.outputs = [birth for tensor in tensors_in(result) if (birth := notes.stage.births[tensor]) is not None]
    for tensor in tensors_in(result):
        known = notes.stage.births[tensor]
        # What a layer inside made keeps that layer's name; what torch's own calls made gets this one's.
        if not innermost and known is not None and known.operation[:1].isupper():
            continue
        notes.stage.births[tensor] = Birth(
            type(layer).__name__,
            tuple(tensor.shape),
            dtype_of(tensor),
            notes.device_of(tensor),
            parents,
            title_of(layer),
            code,
            instruction,
        )
        if innermost and notes.operations is not None:
            notes.operations += operations_of(layer, tuple(tensor.shape))


def title_of(layer: Any) -> str:
    """`dense_1 (Dense)`."""
    return f"{layer.name} ({type(layer).__name__})"


def tensors_in(value: Any) -> list[Any]:
    """Symbolic or real; numbers, flags and Python's own values are left out."""
    if value is None or isinstance(value, bool | int | float | str):
        return []
    return [leaf for leaf in keras.tree.flatten(value) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]
