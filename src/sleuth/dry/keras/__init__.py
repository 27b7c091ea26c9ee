"""Keras 3 programs in a rehearsal: shapes through Keras's own symbolic calls, and a `fit` of a few batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    """To be called once the program has imported keras, before it uses it."""
    from sleuth.dry.keras import calls, losses, making, training
    from sleuth.dry.keras.notes import Notes, notes_of

    if notes_of(stage) is not None:
        return
    notes = Notes(stage)
    for part in (making, calls, losses, training):
        part.install(notes)
