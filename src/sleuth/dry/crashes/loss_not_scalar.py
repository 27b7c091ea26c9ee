"""backward() of a tensor of several values."""

from __future__ import annotations

import ast

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _history, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix


def explain(crash: Crash) -> Finding | None:
    if "grad can be implicitly created only for scalar outputs" not in crash.message:
        return None
    births = crash.call.births if crash.call is not None else ()
    return told(
        "loss-not-scalar",
        crash,
        title=f"backward() of {_words.shape(births[0].shape)}, it wants one number" if births else None,
        chain=_history.of_shapes(births[0]) if births else [],
        fixes=[_fix(crash)],
    )


def _fix(crash: Crash) -> Fix:
    title = "make one number of it first: `.mean()`"
    spots = _scene.users_spots(crash)
    node = _scene.expression(spots[-1].code, spots[-1].instruction) if spots else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "backward":
        return Fix(title, (_edits.put_behind(spots[-1].code.co_filename, node.func.value, ".mean()"),))
    return Fix(title)
