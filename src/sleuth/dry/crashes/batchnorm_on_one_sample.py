"""A batch normalisation in training mode that is given one value for each channel."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix


def explain(crash: Crash) -> Finding | None:
    if "Expected more than 1 value per channel when training" not in crash.message:
        return None
    at_work = _scene.layer(crash)
    births = crash.call.births if crash.call is not None else ()
    dealt = crash.stage.dealt
    who = "BatchNorm" if at_work is None else _words.called(at_work[0], _scene.name_of(crash, at_work[0]))
    is_rest = dealt is not None and dealt.is_last and dealt.size == 1 and dealt.usual > 1
    return told(
        "batchnorm-on-one-sample",
        crash,
        title=f"{who} gets one sample" if is_rest else f"{who} gets one value for each channel",
        chain=_history.of_shapes(births[0]) if births else [],
        fixes=[
            Fix("leave the rest out: DataLoader(..., drop_last=True)")
            if is_rest
            else Fix("model.eval() for one sample")
        ],
    )
