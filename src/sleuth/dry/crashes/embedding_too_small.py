"""An index that an embedding has no row for."""

from __future__ import annotations

from typing import Any

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _making, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.dry.fake.hollow import is_hollow
from sleuth.findings import Evidence, Finding, Fix, Link

REFINES = ("index_out_of_bounds",)
_WORDS = ("index out of range in self", "out of bounds", "device-side assert", "srcIndex")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if call is None or not call.operation.startswith("embedding") or not any(w in crash.message for w in _WORDS):
        return None
    at_work = _scene.layer(crash)
    if at_work is None or not hasattr(at_work[0], "num_embeddings"):
        return None
    module, indices = at_work[0], at_work[1].get("input")
    who, rows = _words.called(module, _scene.name_of(crash, module)), int(module.num_embeddings)
    extremes = _extremes(crash, indices)
    made = _making.making(crash, module)
    title = f"{who} has {rows} rows"
    if extremes is not None:
        title += f", the index is {extremes[1] if extremes[1] >= rows else extremes[0]}"
    return told(
        "embedding-too-small",
        crash,
        title=title,
        evidence=[] if extremes is None else [Evidence("smallest", extremes[0]), Evidence("largest", extremes[1])],
        chain=[
            *(_history.of_shapes(call.births[0]) if call.births else []),
            Link(f"{who} has rows 0 to {rows - 1}", None if made is None else made.place),
        ],
        fixes=[_fix(made, rows, extremes)],
    )


def _extremes(crash: Crash, indices: Any) -> tuple[int, int] | None:
    if (
        indices is None
        or (crash.stage.fake and is_hollow(indices))
        or not hasattr(indices, "min")
        or not indices.numel()
    ):
        return None
    return int(indices.min()), int(indices.max())


def _fix(made: _making.Making | None, rows: int, extremes: tuple[int, int] | None) -> Fix | None:
    if extremes is None or extremes[1] < rows:
        return Fix("indices start at 0: look for what marks padding or unknown words with a negative number")
    needed = extremes[1] + 1
    return _making.with_argument(made, 0, "num_embeddings", needed, f"Embedding({rows} → {needed})")
