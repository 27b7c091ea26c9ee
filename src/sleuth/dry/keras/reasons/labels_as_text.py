"""Text or Python objects where Keras wants numbers."""

from __future__ import annotations

import re

from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding


def explain(trouble: Trouble) -> Finding | None:
    found = re.search(r"Invalid dtype: (str\w*|<U\d+|object)", trouble.text)
    if found is None:
        return None
    kind = "text" if found[1] != "object" else "Python objects"
    return trouble.finding(
        "dtype-mismatch",
        f"the data is {kind} ({found[1]}), not numbers",
        [("dtype", found[1])],
        [
            "class numbers for words: np.unique(y, return_inverse=True)[1]",
            'an array of one shape, .astype("float32")',
        ],
        place=trouble.crash.place,
    )
