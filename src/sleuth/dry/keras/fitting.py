"""The arguments of a `fit`, `evaluate` or `predict` that does less, and its results as if it had done all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from sleuth.dry.keras.shorter import USUAL_BATCH, FewBatches, kept_rows, only, rows_of

# The second shows what a first leaves behind: used-up generators, states, callbacks.
_EPOCHS = 2


@dataclass(frozen=True)
class Shorter:
    """`what` says in words what was cut; `rows` is how many samples there were, where that is known."""

    options: dict[str, Any]
    what: str
    rows: int | None
    batch: int


def shorter(options: dict[str, Any], rounds: int) -> Shorter:
    options = dict(options)
    _split(options)
    batch = options.get("batch_size") or USUAL_BATCH
    rows = rows_of([options["x"], options.get("y"), options.get("sample_weight")])
    cut = [_cut_data(options, rows, batch, rounds), _cut_epochs(options)]
    _cut_validation(options, batch, rounds)
    return Shorter(options, " and ".join(what for what in cut if what), rows, batch)


def _cut_data(options: dict[str, Any], rows: int | None, batch: int, rounds: int) -> str:
    steps = "steps_per_epoch" if "epochs" in options else "steps"
    if rows is not None:
        kept = kept_rows(rows, batch, rounds)
        if kept is None:
            return ""
        for name in ("x", "y", "sample_weight"):
            if options.get(name) is not None:
                options[name] = only(options[name], kept)
        options[steps] = None
        return f"{math.ceil(len(kept) / batch)} of {math.ceil(rows / batch)} batches"
    data = options["x"]
    if isinstance(data, keras.utils.PyDataset) and len(data) > rounds + 1:
        options["x"], options[steps] = FewBatches(data, rounds), None
        return f"{rounds + 1} of {len(data)} batches"
    if not isinstance(data, list | tuple | dict) and not hasattr(data, "shape"):
        options[steps] = min(options.get(steps) or rounds, rounds)
        return f"{options[steps]} batches"
    return ""


def _cut_epochs(options: dict[str, Any]) -> str:
    wanted, first = options.get("epochs"), options.get("initial_epoch", 0)
    if wanted is None or wanted - first <= _EPOCHS:
        return ""
    options["epochs"] = first + _EPOCHS
    return f"{_EPOCHS} of {wanted - first} epochs"


def _split(options: dict[str, Any]) -> None:
    """`validation_split` takes the last samples: before any are left out."""
    share = options.get("validation_split")
    given = [options["x"], options.get("y"), options.get("sample_weight")]
    rows = rows_of(given)
    if not share or options.get("validation_data") is not None or rows is None:
        return
    border = math.floor(rows * (1.0 - share))
    if not 0 < border < rows:
        return
    before, after = only(given, slice(0, border)), only(given, slice(border, rows))
    options.update(x=before[0], y=before[1], sample_weight=before[2], validation_split=0.0)
    options["validation_data"] = tuple(part for part in after if part is not None)


def _cut_validation(options: dict[str, Any], batch: int, rounds: int) -> None:
    data = options.get("validation_data")
    if data is None:
        return
    if isinstance(options.get("validation_freq"), int):
        options["validation_freq"] = 1
    rows = rows_of(data)
    if rows is not None:
        kept = kept_rows(rows, options.get("validation_batch_size") or batch, rounds)
        if kept is not None:
            options["validation_data"], options["validation_steps"] = only(data, kept), None
    elif isinstance(data, keras.utils.PyDataset):
        options["validation_data"], options["validation_steps"] = FewBatches(data, rounds), None
    elif not isinstance(data, list | tuple):
        options["validation_steps"] = min(options.get("validation_steps") or rounds, rounds)


def as_long_as(history: Any, epochs: int, model: Any) -> None:
    """A history with as many entries as the program expects: it plots them against its epochs."""
    if model.stop_training or not history.epoch:
        return
    missing = epochs - 1 - history.epoch[-1]
    history.epoch += range(history.epoch[-1] + 1, epochs)
    for curve in history.history.values():
        curve += curve[-1:] * missing


def as_many_rows(outputs: Any, rows: int | None) -> Any:
    """Predictions for every sample: those that were made, over and over."""
    if rows is None:
        return outputs
    return keras.tree.map_structure(lambda one: one if len(one) >= rows else one[np.arange(rows) % len(one)], outputs)
