"""A view of a tensor whose numbers a transpose has left in another order."""

from __future__ import annotations

import ast

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _history, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix, Link

_REORDERING = {"transpose", "permute", "t", "T", "mT", "swapaxes", "swapdims", "movedim", "moveaxis", "expand", "flip"}


def explain(crash: Crash) -> Finding | None:
    if "view size is not compatible with input tensor's size and stride" not in crash.message or crash.call is None:
        return None
    births = crash.call.births
    if not births:
        return None
    turned = next((one for one in _history.trunk(births[0]) if one.operation in _REORDERING), None)
    return told(
        "view-after-transpose",
        crash,
        title=None if turned is None else f"view() of what {_words.operation(turned.operation)} left in another order",
        chain=_story(births[0], turned),
        fixes=[_fix(crash)],
    )


def _story(birth: Birth, turned: Birth | None) -> list[Link]:
    links = _history.of_shapes(birth)
    if turned is None:
        return links
    return [*links, Link(f"since {_words.operation(turned.operation)} its numbers do not lie in a row", turned.place)]


def _fix(crash: Crash) -> Fix:
    title = "use reshape(), which copies where it must"
    call = crash.call
    node = _scene.expression(call.code, call.instruction) if call is not None and call.code is not None else None
    if call is None or call.code is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return Fix(title)
    if node.func.attr != "view":
        return Fix(title)
    text = f"{ast.get_source_segment(_scene.text(call.code.co_filename), node.func.value)}.reshape"
    return Fix(title, (_edits.replaced(call.code.co_filename, node.func, text),))
