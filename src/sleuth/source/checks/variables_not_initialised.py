"""TensorFlow 1: a session runs something with variables that no initialiser has given a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import sessions, tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# Other ways to give variables their values, perhaps in a function we cannot see.
_ELSEWHERE = re.compile(r"initiali[sz]|restore|\.load\(|Supervisor|Estimator|assign")


def trace(trace: Trace) -> Iterator[Finding]:
    initialisers: list[Value] = []
    for step in trace.of("run", "restore"):
        if step.act == "restore":
            return
        if step.receiver is None or not sessions.is_session(step.receiver):
            continue
        asked = list(sessions.fetched(step))
        if any(one.kind == "?" and not one.op.startswith("call:minimize") for one in asked):
            # Something unknown was run: it may have initialised everything.
            return
        initialisers += [one for one in asked if sessions.initialises(one)]
        missed = _missed(asked, initialisers, trace)
        if missed is not None:
            yield _told(step, missed, initialisers)
            return


def _missed(asked: list[Value], initialisers: list[Value], trace: Trace) -> Value | None:
    """A variable that no initialiser run so far knew of."""
    if not initialisers and _ELSEWHERE.search(trace.file.text):
        return None
    for one in asked:
        for created in () if sessions.initialises(one) else sessions.creators(one):
            if not any(_knew(initialiser, created) for initialiser in initialisers):
                return created
    return None


def _knew(initialiser: Value, created: Value) -> bool:
    """Was it there when the initialiser was made? Lines tell, within one file; elsewhere we do not know."""
    if initialiser.unit is not created.unit or initialiser.loop or created.loop:
        return True
    return initialiser.line > created.line


def _told(step: Step, missed: Value, initialisers: list[Value]) -> Finding:
    created = "a variable" if missed.kind == "tensor" else "variables of its own"
    chain = [tell.because(missed, f"this creates {created}")]
    if initialisers:
        chain.append(tell.because(initialisers[-1], "the initialiser was made before, and does not know of it"))
    chain.append(tell.because(step.node, "the session needs its value here", step.site.spot.file))
    return tell.found(
        "variables-not-initialised",
        step.site,
        chain=chain,
        fixes=[Fix("run tf.global_variables_initializer() after everything is created and before the first run")],
    )
