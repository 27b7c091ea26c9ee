"""A JAX random key that is used twice: both uses draw the same numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# These make a key, look at one, or mix a number into one; none of them uses it up.
_NO_USE = frozenset("PRNGKey key fold_in clone key_data wrap_key_data key_impl default_prng_impl".split())


def trace(trace: Trace) -> Iterator[Finding]:
    uses: dict[int, list[Step]] = {}
    for step in trace.of("random"):
        key = _key(step) if step.site.name.startswith("jax.random.") else None
        if key is None or step.site.name.rpartition(".")[2] in _NO_USE:
            continue
        earlier = next((other for other in uses.get(id(key), ()) if _both_happen(other, step)), None)
        uses.setdefault(id(key), []).append(step)
        if earlier is not None:
            yield _told(step, "the key was used here before", earlier)
        elif _repeats(step, key):
            yield _told(step, "each round of the loop uses the same key", None)


def _key(step: Step) -> Value | None:
    """The key of a draw, where it is a plain name: what an attribute holds by then, other methods decide."""
    key = step.site.operand(0, "key")
    written = step.node.args[0] if step.node.args else None
    if key is None or not isinstance(written, ast.Name) or (key.kind == "?" and not key.op):
        return None
    return None if key.op in ("index", "element") or key.op.startswith("attr:") else key


def _both_happen(one: Step, other: Step) -> bool:
    """Not on two branches of which only one is taken, and not one place seen twice."""
    if one.node is other.node or one.site.spot.function is not other.site.spot.function:
        return False
    arms = dict(one.site.spot.branch)
    return all(arms.get(where, arm) == arm for where, arm in other.site.spot.branch)


def _repeats(step: Step, key: Value) -> bool:
    """Inside a loop, with a key made outside that the loop does not make anew."""
    if not step.loops or not isinstance(step.loops[-1], ast.For | ast.While):
        return False
    loop = step.loops[-1]
    argument = step.node.args[0] if step.node.args else None
    if not isinstance(argument, ast.Name) or key.loop == id(loop) or key.op.startswith("item:"):
        return False
    if not loop.lineno <= step.node.lineno <= (loop.end_lineno or 0):
        return False
    return not any(
        isinstance(node, ast.Name) and node.id == argument.id and isinstance(node.ctx, ast.Store)
        for node in ast.walk(loop)
    )


def _told(step: Step, what: str, earlier: Step | None) -> Finding:
    spot = step.site.spot
    story = [] if earlier is None else [tell.because(earlier.node, what, earlier.site.spot.file)]
    ending = "the same key draws the same numbers again" if earlier is not None else what
    return tell.found(
        "key-reused",
        step.site,
        certainty="likely",
        severity="warning",
        chain=[*story, tell.because(step.node, ending, spot.file)],
        fixes=[Fix("split it first: key, subkey = jax.random.split(key), and draw with subkey")],
    )
