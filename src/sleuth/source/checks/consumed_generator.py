"""A generator that is gone through a second time and has nothing left."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.calls import is_generator
from sleuth.source.sites import Site, Spot, Step, Trace
from sleuth.source.values import Value

CALLS = (
    *(f"torch.optim.{name}" for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam")),
    "torch.nn.utils.clip_grad_norm_",
    "torch.nn.utils.clip_grad_value_",
    "torch.nn.utils.clip_grad_norm",
)


def call(site: Site) -> Finding | None:
    given = site.operand(0, "params", "parameters")
    for one in () if given is None else _generators(given):
        if _was_used(one, site.node, site.spot):
            return _told(site, one, "what goes through it here finds nothing")
        repeated = site.name.startswith("torch.nn.utils.") and bool(site.spot.loops)
        if repeated and _is_older(one, site.spot, site.spot.loops[-1]):
            return _told(site, one, "from the second round on nothing is left in it")
    return None


def trace(trace: Trace) -> Iterator[Finding]:
    for loop in trace.of("loop"):
        if len(loop.loops) < 2 or not isinstance(loop.loops[-2], ast.For | ast.While):
            continue
        outer = loop.loops[-2]
        for source in _named(loop):
            if not is_generator(source) or training.runs_once(outer) or training.runs_once(loop.node):
                continue
            if _is_older(source, loop.site.spot, outer) and not _is_handed_out(loop.node.iter, loop.loops[:-1]):
                yield _told(loop.site, source, "from the second round of the outer loop on nothing is left in it")


def _named(loop: Step) -> list[Value]:
    """What a loop goes over under a name it had before, also inside enumerate() and zip()."""
    source, spelled = loop.receiver, loop.node.iter
    if source is None or isinstance(spelled, ast.Name | ast.Attribute):
        return [] if source is None else [source]
    direct = isinstance(spelled, ast.Call) and source.node is spelled and source.op in ("enumerate", "zip")
    return (
        [one for one, node in zip(source.inputs, spelled.args, strict=False) if isinstance(node, ast.Name)]
        if direct
        else []
    )


def _is_handed_out(source: ast.expr, loops: tuple[ast.AST, ...]) -> bool:
    """Does an outer loop give another one in each round?"""
    given = {
        node.id
        for loop in loops
        for node in ast.walk(getattr(loop, "target", ast.Pass()))
        if isinstance(node, ast.Name)
    }
    return any(isinstance(node, ast.Name) and node.id in given for node in ast.walk(source))


def _generators(given: Value) -> list[Value]:
    """The generators among what an optimiser or a clipping was given, also inside parameter groups."""
    groups = [given, *(given.parts or ())] if given.kind == "sequence" else [given]
    found = [one.attrs["params"] if one.kind == "mapping" and "params" in one.attrs else one for one in groups]
    return [one for one in found if is_generator(one)]


def _was_used(one: Value, node: ast.AST, spot: Spot) -> bool:
    if one.used is None:
        return False
    first, branch = one.used
    return first is not node and set(branch) <= set(spot.branch)


def _is_older(one: Value, spot: Spot, loop: ast.AST) -> bool:
    """Made before the loop, in the same function."""
    line, start = one.line, getattr(loop, "lineno", 0)
    if not line or not start or one.unit not in (None, spot.file) or one.loop == id(loop):
        return False
    scope: ast.AST = spot.file.tree if spot.function is None else spot.function.node
    first = 0 if spot.function is None else spot.function.node.lineno
    return first <= line < start and any(node is loop for node in ast.walk(scope))


def _told(at: Site, one: Value, outcome: str) -> Finding:
    about_parameters = one.op != "zip" and one.op != "enumerate"
    links = [tell.because(one, "this can be gone through only once")]
    if one.used is not None and one.used[0] is not at.node:
        links.append(tell.because(one.used[0], "here it is gone through", at.spot.file))
    return tell.found(
        "consumed-generator",
        at,
        title=None if about_parameters else "a generator that was used up before",
        certainty="certain",
        severity="error",
        chain=[*links, tell.because(at.node, outcome, at.spot.file)],
        fixes=[Fix("make a list of it once: list(...)")],
    )
