"""Inputs and labels of different lengths."""

from __future__ import annotations

import re

from sleuth.dry.crashes._certainty import tempered
from sleuth.dry.keras.trouble import Trouble
from sleuth.findings import Finding

_SIZES = re.compile(r"'?(\w+)'? sizes: ([\d, ]+)")


def explain(trouble: Trouble) -> Finding | None:
    if "Data cardinality is ambiguous" not in trouble.text:
        return None
    sizes = {name: count.strip() for name, count in _SIZES.findall(trouble.text)}
    told = " and ".join(f"{name} has {count}" for name, count in sizes.items())
    finding = trouble.finding(
        "shape-mismatch",
        f"not as many labels as samples: {told}",
        [(f"samples in {name}", count) for name, count in sizes.items()],
        ["cut or filter both in the same way"],
    )
    # Rows that were gathered in a loop are fewer where the rehearsal cut it short.
    return tempered(finding, trouble.crash)
