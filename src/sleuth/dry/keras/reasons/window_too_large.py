"""A convolution or pooling whose window is larger than what is left of the image."""

from __future__ import annotations

import re

from sleuth.dry.keras.trouble import Shape, Trouble, shape_in
from sleuth.findings import Finding

_SHAPE = re.compile(r"Received `?inputs?[_ ]shape=(\(.*?\))`?")


def explain(trouble: Trouble) -> Finding | None:
    if "zero or negative" not in trouble.text and "Negative dimension" not in trouble.text:
        return None
    found = _SHAPE.search(trouble.text)
    shape = shape_in(found[1]) if found else trouble.births[0].shape if trouble.births else ()
    name = trouble.layer.name if trouble.layer is not None else "the layer"
    return trouble.finding(
        "shape-mismatch",
        f"the window of {name} is larger than the image it is given: {shape}",
        [("given shape", shape)],
        _fixes(trouble, shape),
    )


def _fixes(trouble: Trouble, shape: Shape) -> list[str]:
    last_axis = getattr(trouble.layer, "data_format", "channels_last") == "channels_last"
    if last_axis and len(shape) == 4 and shape[1] in (1, 3) and isinstance(shape[3], int) and shape[3] > 4:
        return [f"the channels come first here; Keras wants them last: {(shape[0], *shape[2:], shape[1])}"]
    return ['padding="same" keeps the size; or one pooling layer less, or a larger image']
