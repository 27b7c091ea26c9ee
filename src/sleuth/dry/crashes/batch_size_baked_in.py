"""A shape that holds only for batches of the usual size, met by a batch of another."""

from __future__ import annotations

import ast
import re

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _messages, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.dry.crashes.shape_mismatch import stories
from sleuth.dry.loaders import Dealt
from sleuth.findings import Evidence, Finding, Fix, Link, Place

REFINES = ("shape_mismatch", "linear_size_mismatch")
_VIEWS = {"view", "reshape"}
_NUMBER = re.compile(r"\d+")


def explain(crash: Crash) -> Finding | None:
    dealt = crash.stage.dealt
    if dealt is None or not _messages.is_about_shapes(crash.message) or dealt.size == dealt.usual:
        return None
    if not _is_told(crash, dealt):
        return None
    births = _births(crash)
    if not any(dealt.size in birth.shape for birth in births if _is_data(birth)):
        return None
    fixed = next((birth for birth in births if _is_fixed(birth, dealt)), None)
    asked = _asked_for(crash, dealt.usual)
    if fixed is None and not asked:
        return None
    chain = stories([birth for birth in births if _is_data(birth)][:1])
    if fixed is not None:
        root = _history.source(fixed)
        chain.append(
            Link(f"{_words.maker(root)} made {_words.shape(fixed.shape)}, for {dealt.usual} samples", root.place)
        )
    return told(
        "batch-size-baked-in",
        crash,
        title=f"works for batches of {dealt.usual}, fails at one of {dealt.size}",
        evidence=[Evidence("usual batch", dealt.usual), Evidence("this batch", dealt.size)],
        chain=chain,
        fixes=[_fix(crash, fixed)],
    )


def _births(crash: Crash) -> tuple[Birth, ...]:
    """What the failing call was given, or the layer that refused it before any call."""
    from torch import Tensor

    if crash.call is not None and crash.call.births:
        return crash.call.births
    at_work = _scene.layer(crash)
    values = at_work[1].values() if at_work is not None else ()
    flat = [one for value in values for one in (value if isinstance(value, tuple) else (value,))]
    found = [crash.stage.births[one] for one in flat if isinstance(one, Tensor)]
    return tuple(birth for birth in found if birth is not None)


def _is_told(crash: Crash, dealt: Dealt) -> bool:
    """Does the error speak of both sizes? Of a view it names only the one that was asked for."""
    numbers = {int(number) for number in _NUMBER.findall(crash.message)}
    is_a_view = crash.call is not None and crash.call.operation in _VIEWS
    return dealt.usual in numbers and (dealt.size in numbers or is_a_view)


def _is_data(birth: Birth) -> bool:
    return any(one.operation == "DataLoader" for one in _history.trunk(birth))


def _is_fixed(birth: Birth, dealt: Dealt) -> bool:
    """Is it made for the usual number of samples: from no batch at all, or from one before?"""
    if dealt.usual not in birth.shape or _history.is_weight(birth):
        return False
    root = _history.source(birth)
    return not _is_data(birth) or root.shape[:1] == (dealt.usual,)


def _asked_for(crash: Crash, usual: int) -> bool:
    """Does a view ask for this many samples?"""
    if crash.call is None or crash.call.operation not in _VIEWS:
        return False
    sizes = [argument.value for argument in crash.call.arguments if argument.birth is None]
    flat = [one for size in sizes for one in (size if isinstance(size, list | tuple) else (size,))]
    return usual in flat


def _fix(crash: Crash, fixed: Birth | None) -> Fix:
    place: Place | None = None if fixed is None else _history.source(fixed).place
    if fixed is None and crash.call is not None and crash.call.code is not None:
        node = _scene.expression(crash.call.code, crash.call.instruction)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = ast.unparse(node.func.value)
            return Fix(f"take the size from the tensor itself: `{name}.size(0)` instead of {crash.stage.dealt.usual}")
    where = f" on line {place.line}" if place is not None else ""
    return Fix(
        f"take the size from the batch{where}, e.g. `x.size(0)`; or leave the rest out: DataLoader(drop_last=True)"
    )
