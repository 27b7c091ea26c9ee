"""Labels and outputs that a loss or a metric cannot compare."""

from __future__ import annotations

from typing import Any

import keras

from sleuth.dry.keras.losses import broadcasts
from sleuth.dry.keras.trouble import Shape, Trouble
from sleuth.findings import Finding, Link


def explain(trouble: Trouble) -> Finding | None:
    failed = trouble.failed
    if failed is None or failed.kind == "layer" or not trouble.is_about_shapes:
        return None
    shapes = {argument.name: argument.birth.shape for argument in failed.call.arguments if argument.birth is not None}
    if "labels" not in shapes or "output" not in shapes:
        return None
    labels, output = shapes["labels"], shapes["output"]
    loss = loss_name(trouble)
    if failed.kind == "loss" and _fit(loss, labels, output):
        return None
    diagnosis, fixes = _verdict(loss, labels, output)
    made = _compiled(trouble)
    whose = "a metric" if failed.kind == "metrics" else loss or "the loss"
    return trouble.finding(
        diagnosis,
        f"{whose} is given labels of shape {labels} and outputs of shape {output}",
        [("shape of the labels", labels), ("shape of the output", output)],
        fixes,
        [Link(f"the loss is chosen here: {loss}", made)] if made is not None else [],
        place=trouble.crash.place,
    )


def _fit(loss: str, labels: Shape, output: Shape) -> bool:
    """Are they as this loss wants them? Then it complains of something else."""
    if loss.startswith("sparse_"):
        return labels in (output[:-1], (*output[:-1], 1))
    return not broadcasts(labels, output)


def loss_name(trouble: Trouble) -> str:
    thing: Any = trouble.failed.thing if trouble.failed is not None else None
    if isinstance(thing, keras.Model):
        thing = thing.loss
    return thing if isinstance(thing, str) else getattr(thing, "name", "") or getattr(thing, "__name__", "")


def _compiled(trouble: Trouble) -> Any:
    for model in trouble.notes.models:
        place = trouble.notes.place_made(model._compile_loss)
        if place is not None:
            return place
    return None


def _verdict(loss: str, labels: Shape, output: Shape) -> tuple[str, list[str]]:
    classes = output[-1] if output else None
    if loss.startswith("sparse_categorical") and labels == output:
        return "one-hot-into-sparse-loss", [
            'loss="categorical_crossentropy" for one-hot labels',
            "class numbers: y.argmax(-1)",
        ]
    if loss.startswith("categorical") and len(output) == 2 and labels in (output[:1], (*output[:1], 1)):
        return "index-into-categorical-loss", [
            'loss="sparse_categorical_crossentropy" for class numbers',
            f"one-hot labels: keras.utils.to_categorical(y, {classes})",
        ]
    if len(output) > 2 and len(labels) <= 2:
        return "shape-mismatch", [f"a Flatten or GlobalAveragePooling layer before the last one: its output {output} "
                                  f"has an axis for each position"]  # fmt: skip
    if len(output) == 2 and len(labels) == 1 and loss.startswith("binary"):
        return "shape-mismatch", [f"1 output unit for one yes-or-no label a sample, not {classes}"]
    if len(labels) == 2 and labels[:1] == output[:1]:
        return "shape-mismatch", [f"{labels[-1]} units in the last layer, which has {classes}"]
    return "shape-mismatch", []
