"""A checkpoint that was saved on a card, loaded where there is none or another."""

from __future__ import annotations

import ast

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix

REFINES = ("hard_coded_cuda", "device_mismatch")


def explain(crash: Crash) -> Finding | None:
    if "Attempting to deserialize object on" not in crash.message:
        return None
    return told("load-without-map-location", crash, fixes=[_fix(crash)])


def _fix(crash: Crash) -> Fix:
    title = 'torch.load(..., map_location="cpu")'
    spots = _scene.users_spots(crash)
    node = _scene.expression(spots[-1].code, spots[-1].instruction) if spots else None
    if not isinstance(node, ast.Call) or any(one.arg == "map_location" for one in node.keywords) or len(node.args) > 1:
        return Fix(title)
    edit = _edits.one_more_argument(spots[-1].code.co_filename, node, 'map_location="cpu"')
    return Fix(title, () if edit is None else (edit,))
