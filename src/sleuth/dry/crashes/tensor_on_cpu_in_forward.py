"""A tensor made inside a forward without a device."""

from __future__ import annotations

import ast

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene, _words
from sleuth.dry.crashes._moving import FACTORIES
from sleuth.dry.crashes._stray import Stray, stray
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

REFINES = ("device_mismatch",)
_OF_OTHER_DATA = {"from_numpy", "Tensor"}


def explain(crash: Crash) -> Finding | None:
    found = stray(crash)
    if found is None or found.birth.device != "cpu":
        return None
    origin = found.origin
    if origin.operation not in FACTORIES | _OF_OTHER_DATA or not origin.layer or origin.name:
        return None
    return told(
        "tensor-on-cpu-in-forward",
        crash,
        title=f"{_words.operation(origin.operation)} in {origin.layer} stays on the CPU, the rest is on {found.wanted}",
        evidence=found.evidence,
        chain=found.chain,
        fixes=[_fix(crash, found, origin)],
    )


def _fix(crash: Crash, found: Stray, origin: Birth) -> Fix:
    device = _device(crash, found, origin)
    title = f"make it where its companions are: device={device or 'x.device'}"
    node = _scene.expression(origin.code, origin.instruction) if origin.code is not None else None
    if (
        not device
        or origin.code is None
        or not isinstance(node, ast.Call)
        or any(one.arg == "device" for one in node.keywords)
    ):
        return Fix(title)
    if origin.operation in _OF_OTHER_DATA:
        return Fix(title, (_edits.put_behind(origin.code.co_filename, node, f".to({device})"),))
    edit = _edits.one_more_argument(origin.code.co_filename, node, f"device={device}")
    return Fix(title, () if edit is None else (edit,))


def _device(crash: Crash, found: Stray, origin: Birth) -> str:
    """Of a tensor that the same function was given: it is where the work is done. "" where there is none."""
    from torch import Tensor

    for spot in _scene.users_spots(crash):
        if spot.code is not origin.code:
            continue
        given = spot.code.co_varnames[: spot.code.co_argcount]
        for name in given:
            value = spot.values.get(name)
            birth = crash.stage.births[value] if isinstance(value, Tensor) else None
            if birth is not None and birth.device == found.wanted:
                return f"{name}.device"
    return ""
