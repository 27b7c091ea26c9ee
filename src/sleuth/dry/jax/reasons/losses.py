"""Labels of the wrong form for one of optax's losses."""

from __future__ import annotations

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding


def explain(trouble: Trouble) -> Finding | None:
    operation = trouble.call.operation if trouble.call is not None else ""
    given = {argument.name: argument.birth for argument in trouble.call.arguments} if trouble.call is not None else {}
    logits, labels = given.get("logits"), given.get("labels")
    if logits is None or labels is None:
        return None
    facts = [("shape of the logits", logits.shape), ("shape of the labels", labels.shape)]
    title = f"{operation} is given labels of shape {labels.shape} for logits of shape {logits.shape}"
    if operation == "softmax_cross_entropy" and labels.shape == logits.shape[:-1]:
        fixes = ["softmax_cross_entropy_with_integer_labels", f"jax.nn.one_hot(labels, {logits.shape[-1]})"]
        return trouble.finding("index-into-categorical-loss", title, facts, fixes)
    if operation == "softmax_cross_entropy_with_integer_labels" and labels.shape == logits.shape:
        return trouble.finding("one-hot-into-sparse-loss", title, facts, ["softmax_cross_entropy", "labels.argmax(-1)"])
    return None
