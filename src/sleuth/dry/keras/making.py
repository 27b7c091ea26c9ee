"""Where the program made its layers, optimisers and losses, and compiled its models."""

from __future__ import annotations

import contextlib
import functools
import sys
from types import FrameType
from typing import Any

import keras

from sleuth.dry.keras.notes import Notes
from sleuth.program import users_frame


def install(notes: Notes) -> None:
    _tell_layers(notes)
    _tell_compiled(notes)


def _tell_layers(notes: Notes) -> None:
    """By `__new__`: Keras reads the signatures of constructors, so those must stay as they are."""
    original = keras.Operation.__new__

    @functools.wraps(original)
    def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
        thing = original(cls, *args, **kwargs)
        _note(notes, thing, users_frame(sys._getframe(1)))
        return thing

    notes.stage.patches.set(keras.Operation, "__new__", staticmethod(new))


def _tell_compiled(notes: Notes) -> None:
    """A loss given by its name is made where the model is compiled."""
    trainer = next(kind for kind in keras.Model.__mro__ if "compile" in kind.__dict__)
    original = trainer.compile

    @functools.wraps(original)
    def compile(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        _note(notes, self._compile_loss, users_frame(sys._getframe(1)))
        notes.models.add(self)
        return result

    notes.stage.patches.set(trainer, "compile", compile)


def _note(notes: Notes, thing: Any, frame: FrameType | None) -> None:
    if frame is not None and thing is not None:
        with contextlib.suppress(TypeError):
            notes.made[thing] = (frame.f_code, frame.f_lasti)
