"""A tensor on the card is given to NumPy."""

from __future__ import annotations

import re

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _to_numpy
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding

_WORDS = re.compile(r"can't convert (\S+) device type tensor to numpy")


def explain(crash: Crash) -> Finding | None:
    found = _WORDS.search(crash.message)
    if found is None:
        return None
    birth = _to_numpy.birth_of(crash)
    is_recorded = birth is not None and _is_recorded(birth)
    return told(
        "numpy-of-cuda-tensor",
        crash,
        title=f"a tensor on {found.group(1)} is given to NumPy, which cannot read it",
        chain=[] if birth is None else _history.of_devices(birth),
        fixes=[_to_numpy.fix(crash, ".detach().cpu()" if is_recorded else ".cpu()")],
    )


def _is_recorded(birth: Birth) -> bool:
    """Does it hang on weights, by a way that nobody has cut?"""
    cut = any(one.operation in ("detach", "data", "argmax") for one in _history.line(birth))
    return not cut and any(_history.is_weight(one) for one in birth.ancestors())
