"""A comparison as plain data, for a program to read and a page to draw."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from sleuth.compare.comparison import Comparison, Step, Trouble
from sleuth.compare.deployments import Row
from sleuth.compare.metrics import Metrics, all_measured
from sleuth.compare.scores import LIMIT, Score
from sleuth.compare.session import Session, Tried
from sleuth.compare.side import Side
from sleuth.compare.tell import shown
from sleuth.findings import place_to_json


def facts(session: Session) -> dict[str, Any]:
    return {
        **facts_of_comparison(session.comparison),
        "bytes": {"reference": session.comparison.reference.size, "target": session.comparison.target.size},
        "same": session.same,
        "swapped": session.swapped,
        "samples": [_sample(one) for one in session.tried],
        "worst": session.worst.sample.label,
    }


def facts_of_comparison(done: Comparison) -> dict[str, Any]:
    return {
        "same": done.same,
        "limit": LIMIT,
        "reference": _side(done.reference),
        "target": _side(done.target),
        "samples": [],
        "outputs": [_score(one) for one in done.outputs],
        "metrics": [None if one is None else _metrics(one) for one in all_measured(done.truth, done.answers)],
        "steps": [_step(step) for step in done.steps],
        "partings": [_parting(trouble) for trouble in done.troubles],
    }


def facts_of_row(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "verdict": row.verdict,
        "runtime": row.runtime,
        "precision": row.precision,
        "score": None if row.score is None else number(row.score),
        "argmax": row.agreement,
        "latency_ratio": None if row.latency is None else number(row.latency.ratio),
        "slower": row.slower,
        "bytes": row.size,
        "size_ratio": None if row.size_ratio is None else number(row.size_ratio),
        "left_in_float": list(row.left_in_float),
        "notes": list(row.notes),
        "why_not": row.reason or None,
    }


def _metrics(one: Metrics) -> dict[str, Any]:
    return {key: number(value) if isinstance(value, float) else value for key, value in asdict(one).items()}


def _side(side: Side) -> dict[str, Any]:
    return {"title": side.title, "runtime": side.runtime, "precision": side.precision}


def _sample(tried: Tried) -> dict[str, Any]:
    return {
        "label": tried.sample.label,
        "shapes": [list(array.shape) for array in tried.sample.batch],
        "score": None if tried.scores is None else number(tried.worst),
        "why_not": tried.why or None,
    }


def _score(score: Score) -> dict[str, Any]:
    return {
        "error": number(score.error),
        "noise": number(score.noise),
        "score": number(score.score),
        "worst": number(score.worst),
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "node": step.node.name,
        "shown": shown(step.node),
        "layer": step.node.layer,
        "op": step.node.op,
        "place": place_to_json(step.node.place),
        "target": step.target.name,
        "target_place": place_to_json(step.target.place),
        "paired_by": step.how,
        **_score(step.score),
    }


def _parting(trouble: Trouble) -> dict[str, Any]:
    explanation = trouble.explanation
    return {
        "node": trouble.parting.node,
        "region": list(trouble.parting.region),
        "others": list(trouble.parting.others),
        "also": list(trouble.also),
        "cause": explanation and explanation.diagnosis,
        "says": explanation and explanation.proposal.says,
        "at": explanation and explanation.node,
        "residual": explanation and number(explanation.residual),
        "rivals": [[name, rival.says] for name, rival in explanation.rivals] if explanation else [],
    }


def number(value: float) -> float | str:
    """JSON has no infinity."""
    return float(f"{value:.4g}") if math.isfinite(value) else str(value)
