"""kl_div whose first argument is a softmax, or whose target is a log-softmax without log_target."""

from __future__ import annotations

import ast

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import fused, tell
from sleuth.source.sites import Site
from sleuth.source.values import Value, made_by

OPERATIONS = ("kl_div",)


def operation(site: Site) -> Finding | None:
    if not site.name.startswith("torch."):
        return None
    model, target = site.operand(0, "input"), site.operand(1, "target")
    softmax = None if model is None else made_by(model, "softmax")
    if softmax is not None:
        return _found(
            site, softmax, None, "softmax gives probabilities", Fix("use log_softmax here", _renamed(site, softmax))
        )
    log_softmax = None if target is None else made_by(target, "log_softmax")
    log_target = site.option("log_target")
    if log_softmax is None or site.star or (log_target is not None and log_target.const is not False):
        return None
    title = "kl_div takes the log of a target that is in logs already"
    return _found(site, log_softmax, title, "log_softmax gives logarithms", Fix("pass log_target=True"))


def _found(site: Site, source: Value, title: str | None, why: str, fix: Fix) -> Finding:
    return tell.found(
        "probabilities-into-kl-div",
        site,
        title=title,
        chain=[
            tell.because(source, why),
            tell.because(site.node, "kl_div wants log-probabilities first and probabilities second", site.spot.file),
        ],
        fixes=[fix],
    )


def _renamed(site: Site, softmax: Value) -> tuple[Edit, ...]:
    call, file = softmax.node, softmax.unit
    # Elsewhere the probabilities may have other uses; written as the argument they have none.
    if (
        not isinstance(call, ast.Call)
        or call not in getattr(site.node, "args", ())
        or not isinstance(call.func, ast.Attribute)
    ):
        return ()
    text = fused.other_name(file, call, "log_softmax") if call.func.attr == "softmax" else None
    return () if text is None else (tell.replace(file, call, text),)
