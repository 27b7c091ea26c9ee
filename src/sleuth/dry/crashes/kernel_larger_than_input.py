"""A convolution or pooling whose window is larger than what is left of the picture."""

from __future__ import annotations

import re

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _making, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Link

_TOO_SMALL = re.compile(
    r"Kernel size can't be greater than actual input size|Output size is too small|output size would be too small|"
    r"Padding size should be less than the corresponding input dimension|maximum size for tensor at dimension"
)


def explain(crash: Crash) -> Finding | None:
    if not _TOO_SMALL.search(crash.message):
        return None
    birth = _input(crash)
    if birth is None:
        return None
    at_work = _scene.layer(crash)
    who = _words.operation(crash.call.operation) if crash.call is not None else "the window"
    chain = _history.of_shapes(birth)
    left = _words.product(birth.shape[2:]) or _words.shape(birth.shape)
    if at_work is not None:
        module = at_work[0]
        who = _words.called(module, _scene.name_of(crash, module))
        made = _making.making(crash, module)
        window = getattr(module, "kernel_size", None)
        chain.append(Link(f"{who} has a window of {window} for {left}", None if made is None else made.place))
    return told(
        "kernel-larger-than-input",
        crash,
        title=f"only {left} is left of the picture at {who}",
        chain=chain,
    )


def _input(crash: Crash) -> Birth | None:
    births = crash.call.births if crash.call is not None else ()
    return next((birth for birth in births if not _history.is_weight(birth)), None)
