"""jax.grad of something that has no gradient."""

from __future__ import annotations

import re

from sleuth.dry.jax.trouble import Trouble
from sleuth.findings import Finding


def explain(trouble: Trouble) -> Finding | None:
    if "Gradient only defined for scalar-output functions" in trouble.text:
        shape = re.search(r"Output had shape: (\(.*?\))", trouble.text)
        if shape is None:
            title = "the differentiated function gives more than its loss"
            return trouble.finding(
                "loss-not-scalar", title, fixes=["has_aux=True, with (loss, rest) returned"], chain=[]
            )
        title = f"the differentiated function gives {shape[1]}, not one number"
        return trouble.finding("loss-not-scalar", title, [("shape", shape[1])], [".mean() over the losses"], chain=[])
    found = re.search(r"grad requires real- or complex-valued inputs.*?but got (\w+)", trouble.text)
    if found is None:
        return None
    title = f"a gradient with respect to whole numbers ({found[1]})"
    fixes = ["argnums for the weights alone", "weights of type float32"]
    return trouble.finding("dtype-mismatch", title, [("dtype", found[1])], fixes, chain=[])
