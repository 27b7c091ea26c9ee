"""Where the user's program made its Keras layers and optimisers."""

from __future__ import annotations

import functools
import sys
import weakref
from types import CodeType, FrameType
from typing import Any

import keras

from sleuth.findings import Place
from sleuth.program import place_of, users_frame

Line = tuple[CodeType, int]

_made: weakref.WeakKeyDictionary[Any, Line] = weakref.WeakKeyDictionary()
_listening: list[bool] = []


def listen() -> None:
    """From now on the line of each construction is known."""
    if not _listening:
        _listening.append(True)
        _tell_layers()
        _tell_optimizers()
        _tell_compiled()


def _tell_layers() -> None:
    """By `__new__`: Keras reads the signatures of constructors, so those must stay as they are."""
    original = keras.Operation.__new__

    @functools.wraps(original)
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(cls, *args, **kwargs)
        _note(made, users_frame(sys._getframe(1)))
        return made

    keras.Operation.__new__ = staticmethod(new)


def _tell_optimizers() -> None:
    original = keras.optimizers.Optimizer.__init__

    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        _note(self, _maker(self, users_frame(sys._getframe(1))))

    keras.optimizers.Optimizer.__init__ = init


def _note(thing: Any, frame: FrameType | None) -> None:
    if frame is not None:
        _made.setdefault(thing, (frame.f_code, frame.f_lasti))


def _tell_compiled() -> None:
    """An optimiser given by its name is made where the model is compiled."""
    # On the class that has it: Keras compares a model's own with that one to see whether it was overridden.
    trainer = next(kind for kind in keras.Model.__mro__ if "compile" in kind.__dict__)
    original = trainer.compile

    @functools.wraps(original)
    def compile(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        frame = users_frame(sys._getframe(1))
        if getattr(self, "optimizer", None) is not None:
            _note(self.optimizer, frame)
        return result

    trainer.compile = compile


def _maker(thing: Any, frame: FrameType | None) -> FrameType | None:
    """The user's frame that made a thing: not the thing's own constructor."""
    while frame is not None and frame.f_code.co_name == "__init__":
        code = frame.f_code
        if not code.co_argcount or frame.f_locals.get(code.co_varnames[0]) is not thing:
            break
        outer = users_frame(frame.f_back)
        if outer is None:
            break
        frame = outer
    return frame


def line(thing: Any) -> Line | None:
    try:
        return _made.get(thing)
    except TypeError:
        return None


def place(thing: Any) -> Place | None:
    found = line(thing)
    return place_of(*found) if found is not None else None


def layers(model: Any) -> dict[str, Any]:
    """Every layer inside a model by its name, the model itself left out."""
    return {layer.name: layer for layer in model._flatten_layers(include_self=False, recursive=True)}


def name_of(variable: Any) -> str:
    """`dense.kernel`: the last two parts of a variable's path."""
    return ".".join(str(variable.path).split("/")[-2:])


def owner_of(variable: Any, model: Any) -> Any:
    for layer in layers(model).values():
        if any(v is variable for v in (*layer._trainable_variables, *layer._non_trainable_variables)):
            return layer
    return None


def settings(optimizer: Any) -> dict[str, float]:
    found = {}
    for name in ("weight_decay", "momentum"):
        value = getattr(optimizer, name, None)
        if isinstance(value, int | float) and value:
            found[name] = float(value)
    return found
