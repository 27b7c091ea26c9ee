"""What a comparison found, as findings: the layer, the line, the cause, and how far it carries."""

from __future__ import annotations

from collections.abc import Iterable

from sleuth import handbook
from sleuth.compare.comparison import Comparison, Step, Trouble
from sleuth.compare.explain import Explanation
from sleuth.compare.reference import Reference
from sleuth.compare.scores import SURE, Score
from sleuth.compare.values import Value
from sleuth.findings import Certainty, Evidence, Finding, Fix, Link, Place, Severity

# Relative to the size of the outputs: from here on a person would see it.
_VISIBLE = 1e-2
_MOST_NAMES = 4


def findings(done: Comparison) -> list[Finding]:
    """One for every place where the two part; of faults that are alike, one that names all their places."""
    told: dict[tuple[str, str], list[Trouble]] = {}
    for trouble in done.troubles:
        explanation = trouble.explanation
        key = (
            (explanation.diagnosis, explanation.proposal.says) if explanation else ("models-part", trouble.parting.node)
        )
        told.setdefault(key, []).append(trouble)
    return [_finding(done, alike) for alike in told.values()]


def _finding(done: Comparison, alike: list[Trouble]) -> Finding:
    first = alike[0]
    explanation = first.explanation
    node = done.graph.value(explanation.node if explanation else first.parting.node)
    nodes = [node.name, *(name for one in alike[1:] for name in _nodes(one)), *(n for one in alike for n in one.also)]
    target = first.step.target if first.step is not None else None
    start = _start(done, node, first) if explanation is None else None
    return handbook.finding(
        explanation.diagnosis if explanation else "models-part",
        title=_title(done, node, first, start),
        place=_place(node, target) if start is None else None,
        certainty=_certainty(first, start),
        severity=_severity(done),
        evidence=[*_evidence(first, explanation), *_reach(done.outputs)],
        chain=_chain(done, first, node, start, nodes),
        fixes=[Fix(explanation.proposal.fix, verified=not explanation.rivals)] if explanation else (),
    )


def _nodes(trouble: Trouble) -> list[str]:
    return [trouble.explanation.node if trouble.explanation else trouble.parting.node]


def _title(done: Comparison, node: Value, trouble: Trouble, start: Value | None) -> str:
    where = shown(node)
    if trouble.explanation is not None:
        return f"{where} is computed otherwise in {done.target.title}: {trouble.explanation.proposal.says}"
    place = f"at {where}" if start is None else f"somewhere between {shown(start)} and {where}"
    if trouble.parting.others:
        place = f"at or near {where}"
    return f"{done.target.title} parts from {done.reference.title} {place}"


def _start(done: Comparison, node: Value, trouble: Trouble) -> Value | None:
    """Where other layers, or lines of a function without any, lie before it without a value to compare, the first of
    them: it may be any."""
    region = [done.graph.value(name) for name in trouble.parting.region]
    return next((one for one in region if one.op != "input" and _is_elsewhere(one, node)), None)


def _is_elsewhere(one: Value, node: Value) -> bool:
    if node.layer:
        return bool(one.layer) and one.layer != node.layer
    return one.place is not None and node.place is not None and one.place.line != node.place.line


def shown(node: Value) -> str:
    """`encoder.0 (conv2d)`, as the user knows it."""
    if node.op == "input":
        return f"the input {node.name}"
    return f"{node.layer} ({node.op})" if node.layer else node.op


def _place(node: Value, target: Value | None) -> Place | None:
    """The line to change is the target's, where it has one."""
    return target.place if target is not None and target.place is not None else node.place


def _certainty(trouble: Trouble, start: Value | None) -> Certainty:
    """That they differ is certain; which of a few causes or places it is may not be."""
    explanation = trouble.explanation
    if start is not None or (explanation is not None and explanation.rivals):
        return "likely"
    return "certain" if trouble.parting.score.score >= SURE else "likely"


def _severity(done: Comparison) -> Severity:
    return "error" if max(one.error for one in done.outputs) >= _VISIBLE else "warning"


def _evidence(trouble: Trouble, explanation: Explanation | None) -> Iterable[Evidence]:
    result = trouble.parting.score
    yield Evidence("error here", _rounded(result.error))
    yield Evidence("noise here", _rounded(result.noise))
    yield Evidence("times the noise", _rounded(result.score))
    if explanation is not None:
        yield Evidence("times the noise, cause removed", _rounded(explanation.residual))


def _reach(outputs: list[Score]) -> Iterable[Evidence]:
    worst = max(outputs, key=lambda one: one.score)
    yield Evidence("error of the outputs", _rounded(worst.error))
    yield Evidence("largest error of the outputs", _rounded(worst.worst))


def _rounded(number: float) -> float:
    return float(f"{number:.3g}")


def _chain(done: Comparison, trouble: Trouble, node: Value, start: Value | None, nodes: list[str]) -> Iterable[Link]:
    clean = _last_clean(done.graph, done.steps, trouble)
    if clean is not None:
        yield Link(f"up to {shown(clean.node)} both agree within the noise", clean.node.place)
    else:
        yield Link("no value before it could be compared")
    if start is not None:
        yield Link(f"{shown(start)} is the first that it may be", start.place)
    if trouble.step is not None:
        target = trouble.step.target
        yield Link(f"{shown(node)} is {target.name} in {done.target.title}", node.place)
        if target.place is not None and node.place is not None and target.place != node.place:
            yield Link(f"{target.name} of {done.target.title} is computed here", target.place)
    explanation = trouble.explanation
    if explanation is not None:
        for diagnosis, rival in explanation.rivals[:_MOST_NAMES]:
            yield Link(f"as well fits that {rival.says} ({diagnosis})")
    else:
        region = [shown(done.graph.value(name)) for name in trouble.parting.region if name != node.name]
        if region:
            yield Link("in between, without a value to compare: " + _listed(region))
    if explanation is None and done.own_fault:
        yield Link(done.own_fault)
    if trouble.parting.others:
        around = [shown(done.graph.value(name)) for name in trouble.parting.others]
        yield Link(f"it is near the noise: it may as well be {_listed(around)}")
    more = list(dict.fromkeys(shown(done.graph.value(name)) for name in nodes if name != node.name))
    if more:
        yield Link(f"the same at {_listed(more)}")


def _last_clean(graph: Reference, steps: list[Step], trouble: Trouble) -> Step | None:
    before = [step for step in steps if graph.order[step.node.name] < graph.order[trouble.parting.region[0]]]
    return next((step for step in reversed(before) if not step.score.parted), None)


def _listed(names: list[str]) -> str:
    shown_names = list(dict.fromkeys(names))
    more = len(shown_names) - _MOST_NAMES
    return ", ".join(shown_names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
