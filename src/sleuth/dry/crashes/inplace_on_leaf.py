"""A parameter is changed in place while gradients are recorded."""

from __future__ import annotations

import re

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix, Link

_WORDS = re.compile(r"leaf Variable that requires grad is being used in an in-place operation")


def explain(crash: Crash) -> Finding | None:
    call = crash.call
    if not _WORDS.search(crash.message):
        return None
    fix = Fix("change it inside of `with torch.no_grad():`")
    if call is None or not call.births:
        return told("inplace-on-leaf", crash, fixes=[fix])
    leaf = _history.source(call.births[0])
    name = call.births[0].name or "a tensor that requires a gradient"
    return told(
        "inplace-on-leaf",
        crash,
        title=f"{_words.operation(call.operation)} changes {name} in place while gradients are recorded",
        chain=[Link(f"{_words.maker(leaf)} made it, {_words.shape(leaf.shape)}", leaf.place)],
        fixes=[fix],
    )
