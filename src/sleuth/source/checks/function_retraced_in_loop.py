"""A tf.function that gets a Python number which changes in a loop: it is traced anew for each."""

from __future__ import annotations

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import FunctionInfo
from sleuth.source.sites import Site
from sleuth.source.values import Value, ancestors

CALLS = ("decorated()", "tensorflow.function()")
# TensorFlow itself warns from the fifth trace on.
_FEW_ROUNDS = 5


def call(site: Site) -> Finding | None:
    function = None if site.receiver is None else site.receiver.info
    if not site.spot.loops or not isinstance(function, FunctionInfo) or not _is_traced(function):
        return None
    if site.spot.function is not None and site.spot.function.decorated_with("tensorflow.function"):
        # Inside another trace it is part of that one.
        return None
    changing = next((one for one in (*site.args, *site.keywords.values()) if _counts(one)), None)
    if changing is None:
        return None
    decorator = next((one for one in function.decorators if one.api == "tensorflow.function"), None)
    return tell.found(
        "function-retraced-in-loop",
        site,
        title=f"{function.name} is traced anew in every round: it gets a Python number",
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(decorator.node, "tf.function keeps one graph for each Python value it gets", function.file)
            if decorator is not None and decorator.node is not None
            else tell.because(function.node, "tf.function keeps one graph for each Python value", function.file),
            tell.because(site.node, "the number is another one in each round of the loop", site.spot.file),
        ],
        fixes=[Fix("pass a tensor: tf.constant(step), or a tf.Variable that is counted up")],
    )


def _is_traced(function: FunctionInfo) -> bool:
    """With a signature, Python numbers become tensors before they are looked at."""
    return any(one.api == "tensorflow.function" and not one.options for one in function.decorators)


def _counts(value: Value) -> bool:
    """A number that a loop counts up, or one computed from it."""
    if value.kind != "number":
        return False
    position = next((one for one in ancestors(value, most=20) if one.op == "position"), None)
    if position is None:
        return False
    rounds = position.inputs[-1].number() if position.inputs else None
    return rounds is None or rounds > _FEW_ROUNDS
