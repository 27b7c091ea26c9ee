"""`fit`, `evaluate` and `predict` for as many batches as a rehearsal needs, or by shapes alone if that is too much."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import keras

from sleuth.dry.keras import declared, fitting, shapes_only, values
from sleuth.dry.keras.notes import Notes
from sleuth.dry.keras.shorter import rows_of
from sleuth.program import users_frame, users_place

Rehearse = Callable[[Notes, Any, dict[str, Any], Callable[..., Any]], Any]


def install(notes: Notes) -> None:
    for name, rehearse in (("fit", _fit), ("evaluate", _evaluate), ("predict", _predict)):
        _tell(notes, name, rehearse)
    for name in ("train_on_batch", "test_on_batch", "predict_on_batch"):
        _tell(notes, name, _on_batch)


def _tell(notes: Notes, name: str, rehearse: Rehearse) -> None:
    trainer = next(kind for kind in keras.Model.__mro__ if name in kind.__dict__)
    original = getattr(trainer, name)
    signature = inspect.signature(original)

    @functools.wraps(original)
    def rehearsed(self: Any, *args: Any, **kwargs: Any) -> Any:
        if notes.training or not _binds(signature, self, args, kwargs):
            return original(self, *args, **kwargs)
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        options = dict(given.arguments)
        del options["self"]
        extra = options.pop("kwargs", {})
        notes.training = True
        notes.callers.append(users_frame(sys._getframe(1)))
        notes.unlike_declared = declared.unlike(self, options["x"])
        try:
            result = rehearse(notes, self, {**options, **extra}, functools.partial(original, self))
            notes.unlike_declared = notes.stage.dealt = None
            return result
        except Exception:
            _tell_samples(notes, options["x"])
            raise
        finally:
            notes.training = False
            notes.callers.pop()

    notes.stage.patches.set(trainer, name, rehearsed)


def _tell_samples(notes: Notes, x: Any) -> None:
    """Of how many samples the batch that failed is one: not of those that are left."""
    dealt, rows = notes.stage.dealt, rows_of(x)
    if dealt is not None and rows is not None:
        notes.stage.dealt = replace(dealt, samples=rows)


def _binds(signature: inspect.Signature, self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        signature.bind(self, *args, **kwargs)
    except TypeError:
        return False
    return True


def _fit(notes: Notes, model: Any, options: dict[str, Any], run: Callable[..., Any]) -> Any:
    wanted = options["epochs"]
    values.look(notes, model, options["x"], options["y"])
    shorter = fitting.shorter(options, notes.stage.scenario.rounds)
    if not shapes_only.affordable(notes, model, shorter):
        return shapes_only.fit(notes, model, options)
    if shorter.what:
        notes.stage.journal.assume(_here(), f"fit cut to {shorter.what}")
    history = run(**shorter.options)
    notes.stage.acts["step"] += 1
    fitting.as_long_as(history, wanted, model)
    return history


def _evaluate(notes: Notes, model: Any, options: dict[str, Any], run: Callable[..., Any]) -> Any:
    shorter = fitting.shorter(options, notes.stage.scenario.rounds)
    if not shapes_only.affordable(notes, model, shorter):
        return shapes_only.evaluate(notes, model, options)
    result = run(**shorter.options)
    notes.stage.acts["forward"] += 1
    return result


def _predict(notes: Notes, model: Any, options: dict[str, Any], run: Callable[..., Any]) -> Any:
    shorter = fitting.shorter(options, notes.stage.scenario.rounds)
    if not shapes_only.affordable(notes, model, shorter):
        return shapes_only.predict(notes, model, options)
    result = run(**shorter.options)
    notes.stage.acts["forward"] += 1
    return fitting.as_many_rows(result, shorter.rows)


def _on_batch(notes: Notes, model: Any, options: dict[str, Any], run: Callable[..., Any]) -> Any:
    result = run(**options)
    notes.stage.acts["step" if "class_weight" in options else "forward"] += 1
    return result


def _here() -> Any:
    return users_place(sys._getframe(1))
