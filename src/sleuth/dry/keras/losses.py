"""Losses and metrics: what they are given, which of them fails, and targets that broadcast without a word."""

from __future__ import annotations

import functools
import sys
from types import FrameType
from typing import Any

import keras

from sleuth import handbook
from sleuth.dry.births import Argument, Call
from sleuth.dry.keras import story
from sleuth.dry.keras.calls import tensors_in
from sleuth.dry.keras.notes import Failed, Notes
from sleuth.findings import Evidence, Place
from sleuth.program import place_of, users_frame

# Those that subtract the two: any shapes that broadcast pass.
_ELEMENTWISE = (
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_squared_logarithmic_error",
    "huber", "log_cosh",
)  # fmt: skip


def install(notes: Notes) -> None:
    _tell_losses(notes)
    _tell_metrics(notes)


def _tell_losses(notes: Notes) -> None:
    original = keras.losses.Loss.__call__

    @functools.wraps(original)
    def call(self: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        frame = users_frame(sys._getframe(1))
        try:
            result = original(self, y_true, y_pred, *args, **kwargs)
        except Exception as error:
            notes.fails(_failed(notes, error, "loss", self, y_true, y_pred, frame))
            raise
        look_for_broadcast(notes, self, y_true, y_pred, frame)
        return result

    notes.stage.patches.set(keras.losses.Loss, "__call__", call)


def _tell_metrics(notes: Notes) -> None:
    trainer = next(kind for kind in keras.Model.__mro__ if "compute_metrics" in kind.__dict__)
    original = trainer.compute_metrics

    @functools.wraps(original)
    def compute_metrics(self: Any, x: Any, y: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(self, x, y, y_pred, *args, **kwargs)
        except Exception as error:
            frame = users_frame(sys._getframe(1))
            notes.fails(_failed(notes, error, "metrics", self, y, y_pred, frame))
            raise

    notes.stage.patches.set(trainer, "compute_metrics", compute_metrics)


def _failed(
    notes: Notes, error: Exception, kind: Any, thing: Any, labels: Any, output: Any, frame: FrameType | None
) -> Failed:
    line = None if frame is None else (frame.f_code, frame.f_lasti)
    given = tuple(
        Argument(name, notes.output_birth(leaf, line) if name == "output" else notes.birth(leaf, name, line))
        for name, value in (("labels", labels), ("output", output))
        for leaf in tensors_in(value)
    )
    call = Call(type(thing).__name__, given, "", *(line or (None, 0)))
    return Failed(error, kind, thing, call, notes.by_container(frame))


def look_for_broadcast(notes: Notes, loss: Any, y_true: Any, y_pred: Any, frame: FrameType | None) -> None:
    name = getattr(getattr(loss, "fn", loss), "__name__", "")
    if name not in _ELEMENTWISE:
        return
    if not (hasattr(y_true, "shape") and hasattr(y_pred, "shape")):
        return
    labels, output = tuple(y_true.shape), tuple(y_pred.shape)
    if not broadcasts(labels, output):
        return
    place = None if frame is None else place_of(frame.f_code, frame.f_lasti)
    tell_broadcast(notes, name, labels, output, y_pred, place)


def broadcasts(labels: tuple[Any, ...], output: tuple[Any, ...]) -> bool:
    """Would the two be stretched over each other, after Keras has squeezed or added a last axis of 1?"""
    if len(labels) == len(output) - 1 and output[-1] == 1:
        output = output[:-1]
    elif len(labels) == len(output) - 1:
        labels = (*labels, 1)
    elif len(output) == len(labels) - 1 and labels[-1] == 1:
        labels = labels[:-1]
    if len(labels) != len(output):
        return True
    return any(a != b and None not in (a, b) for a, b in zip(labels, output, strict=True))


def tell_broadcast(
    notes: Notes, loss: str, labels: tuple[Any, ...], output: tuple[Any, ...], y_pred: Any, place: Place | None
) -> None:
    birth = notes.output_birth(y_pred, None)
    notes.stage.journal.finding(
        handbook.finding(
            "loss-broadcast",
            place=place,
            title=f"{loss} stretches labels of shape {labels} over outputs of shape {output}",
            certainty="likely",
            severity="warning",
            evidence=[Evidence("shape of the labels", str(labels)), Evidence("shape of the output", str(output))],
            chain=story.chain(birth),
        )
    )
