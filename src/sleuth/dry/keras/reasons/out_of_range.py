"""An index that an Embedding, or a label that a loss, has no place for."""

from __future__ import annotations

import re

import keras

from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding


def explain(trouble: Trouble) -> Finding | None:
    label = re.search(r"Target (-?\d+) is out of bounds", trouble.text)
    if label is not None and trouble.failed is not None:
        return _label(trouble, int(label[1]))
    if isinstance(trouble.layer, keras.layers.Embedding) and "out of range" in trouble.text:
        rows = trouble.layer.input_dim
        return trouble.finding(
            "embedding-too-small",
            f"{trouble.layer.name} (Embedding) has rows 0 to {rows - 1} and is given another index",
            [("rows of the table", rows)],
            ["Embedding(largest index + 1, …)"],
        )
    return None


def _label(trouble: Trouble, label: int) -> Finding:
    classes = trouble.births[-1].shape[-1] if trouble.births and trouble.births[-1].shape else "?"
    return trouble.finding(
        "label-out-of-range",
        f"label {label} is none of the model's {classes} classes",
        [("label", label), ("outputs of the model", classes)],
        [f"{label + 1} units in the last layer, or labels from 0"],
        place=trouble.crash.place,
    )
