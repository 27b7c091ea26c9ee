"""DistributedDataParallel waits for the gradient of a parameter that no loss depends on."""

from __future__ import annotations

from sleuth.dry.crash import Crash
from sleuth.dry.crashes._told import told
from sleuth.dry.silent.parameters_unused import FIX, Watch, evidence
from sleuth.findings import Finding, Fix, Link

_WORDS = "Expected to have finished reduction in the prior iteration"


def explain(crash: Crash) -> Finding | None:
    watch = next((one for one in crash.stage.watchers if isinstance(one, Watch)), None)
    unused = [] if watch is None or _WORDS not in crash.message else watch.unused(0)
    if watch is None or not unused:
        return None
    part = unused[0]
    more = f" and {len(unused) - 1} more" if len(unused) > 1 else ""
    return told(
        "parameters-unused",
        crash,
        title=f"DistributedDataParallel waits for gradients of {part.name}{more}, which no loss depends on",
        place=watch.making(part),
        evidence=evidence(part),
        chain=[*watch.story(part), Link("the next step stops here", crash.place)],
        fixes=[FIX, Fix("or give DistributedDataParallel find_unused_parameters=True")],
    )
