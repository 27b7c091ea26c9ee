"""Handing a tensor to NumPy: the words to put between the two."""

from __future__ import annotations

import ast

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene
from sleuth.findings import Fix


def birth_of(crash: Crash) -> Birth | None:
    births = crash.call.births if crash.call is not None else ()
    return births[0] if births else None


def fix(crash: Crash, words: str) -> Fix:
    """`.cpu()` or `.detach()` before `.numpy()`, or behind the one name that is given to NumPy."""
    title = f"{words} before NumPy gets it"
    spots = _scene.users_spots(crash)
    node = _scene.expression(spots[-1].code, spots[-1].instruction) if spots else None
    if not isinstance(node, ast.Call):
        return Fix(title)
    filename = spots[-1].code.co_filename
    if isinstance(node.func, ast.Attribute) and node.func.attr == "numpy":
        return Fix(title, (_edits.put_behind(filename, node.func.value, words),))
    birth = birth_of(crash)
    given = [one for one in node.args if birth is not None and _holds(crash, spots[-1], one, birth)]
    return Fix(title, (_edits.put_behind(filename, given[0], words),) if len(given) == 1 else ())


def _holds(crash: Crash, spot: _scene.Spot, node: ast.expr, birth: Birth) -> bool:
    from torch import Tensor

    if not isinstance(node, ast.Name):
        return False
    value = spot.values.get(node.id, spot.frame.f_globals.get(node.id))
    return isinstance(value, Tensor) and crash.stage.births[value] is birth
