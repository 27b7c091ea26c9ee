"""A tensor that gradients flow through is given to NumPy."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _to_numpy
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding


def explain(crash: Crash) -> Finding | None:
    if "Can't call numpy() on Tensor that requires grad" not in crash.message:
        return None
    birth = _to_numpy.birth_of(crash)
    is_on_a_card = birth is not None and birth.device not in ("cpu", "meta")
    return told(
        "numpy-of-grad-tensor",
        crash,
        chain=[] if birth is None else _history.of_shapes(birth),
        fixes=[_to_numpy.fix(crash, ".detach().cpu()" if is_on_a_card else ".detach()")],
    )
