"""A close look as values by name, for curves and expectations."""

from __future__ import annotations

import math

from sleuth.live.signals import Look


def values_of(look: Look) -> dict[str, float]:
    values: dict[str, float] = {}
    for weight in look.weights:
        values[f"weight norm/{weight.name}"] = weight.norm
        if weight.gradient_norm is not None:
            values[f"gradient norm/{weight.name}"] = weight.gradient_norm
        if weight.update_norm is not None and weight.norm > 0:
            values[f"update ratio/{weight.name}"] = weight.update_norm / weight.norm
    for activation in look.activations:
        name = activation.layer or activation.kind
        if activation.kind == "relu":
            values[f"dead share/{name}"] = activation.dead
        else:
            values[f"saturated share/{name}"] = activation.saturated
    for loss in look.losses:
        if loss.is_root and loss.labels and not math.isnan(loss.extra.get("accuracy", math.nan)):
            samples = sum(loss.labels.values())
            values["accuracy"] = loss.extra["accuracy"]
            values["accuracy by chance"] = max(loss.labels.values()) / samples
            values["samples for accuracy"] = samples
    return values
