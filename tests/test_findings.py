"""Findings survive their journey through JSON, and a report that is not ours is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth.findings import SCHEMA, Edit, Evidence, Finding, Fix, Link, Place, Report

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)
PLACES = st.none() | st.builds(Place)
FINDINGS = st.builds(
    Finding,
    place=PLACES,
    evidence=st.lists(st.builds(Evidence, st.text(max_size=10), VALUES), max_size=3).map(tuple),
    chain=st.lists(st.builds(Link, st.text(max_size=10), PLACES), max_size=3).map(tuple),
    fixes=st.lists(st.builds(Fix, edits=st.lists(st.builds(Edit), max_size=2).map(tuple)), max_size=2).map(tuple),
)
REPORTS = st.builds(Report, findings=st.lists(FINDINGS, max_size=3).map(tuple), exit=st.integers(0, 255))


def finding(**changes: Any) -> Finding:
    least: dict[str, Any] = {
        "diagnosis": "log-of-zero",
        "title": "log of a value that reached 0",
        "certainty": "certain",
        "severity": "error",
        "kind": "training-anomaly",
        "root_cause": "invalid-range",
        "stage": "model-training",
        "effect": "nan",
    }
    return Finding(**(least | changes))


# Whole reports take long to make up where the machine is busy.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(REPORTS)
def test_a_report_comes_back_from_json_as_it_went(report: Report) -> None:
    text = json.dumps(report.to_json(), allow_nan=False)
    assert Report.from_json(json.loads(text)) == report


@given(st.sampled_from([math.nan, math.inf, -math.inf]))
def test_what_json_has_no_number_for_is_said_in_words(number: float) -> None:
    report = Report("run", "a.py", (finding(evidence=(Evidence("loss", (1.0, number)),)),))
    text = json.dumps(report.to_json(), allow_nan=False)
    assert Report.from_json(json.loads(text)) == report
    assert report.findings[0].evidence[0].value == (1.0, str(number))


@pytest.mark.parametrize("name", ["certainty", "severity", "kind", "root_cause", "stage", "effect"])
def test_a_word_outside_the_vocabulary_is_refused(name: str) -> None:
    data = Report("run", "a.py", (finding(),)).to_json()
    data["findings"][0][name] = "perhaps"
    with pytest.raises(ValueError, match=f"{name} 'perhaps' is not one of "):
        Report.from_json(data)


@pytest.mark.parametrize("schema", [SCHEMA + 1, None, str(SCHEMA)])
def test_another_schema_is_refused(schema: object) -> None:
    data = Report("run", "a.py").to_json() | {"schema": schema}
    with pytest.raises(ValueError, match=f"Sleuth reads schema {SCHEMA}"):
        Report.from_json(data)


def test_the_json_is_the_contract_word_for_word() -> None:
    place = Place("train.py", 31, 12, 31, "torch.log(p)")
    found = finding(
        place=place,
        step=412,
        rank=0,
        evidence=(Evidence("input minimum", 0.0),),
        chain=(Link("softmax gave 3 exact zeros", Place("model.py", 52)),),
        fixes=(Fix("use F.cross_entropy on the logits", (Edit("train.py", 31, 12, 31, 24, "x"),)),),
    )
    whole = {"path": "train.py", "line": 31, "column": 12, "end_line": 31, "code": "torch.log(p)"}
    origin = {"path": "model.py", "line": 52, "column": None, "end_line": None, "code": None}
    edit = {"path": "train.py", "line": 31, "column": 12, "end_line": 31, "end_column": 24, "replacement": "x"}
    assert Report("run", "train.py", (found,)).to_json() == {
        "schema": 1,
        "command": "run",
        "program": "train.py",
        "exit": 1,
        "findings": [
            {
                "diagnosis": "log-of-zero",
                "title": "log of a value that reached 0",
                "certainty": "certain",
                "severity": "error",
                "kind": "training-anomaly",
                "root_cause": "invalid-range",
                "stage": "model-training",
                "effect": "nan",
                "place": whole,
                "step": 412,
                "rank": 0,
                "evidence": [{"name": "input minimum", "value": 0.0}],
                "chain": [{"place": origin, "what": "softmax gave 3 exact zeros"}],
                "fixes": [
                    {"title": "use F.cross_entropy on the logits", "edits": [edit], "verified": False, "safe": False}
                ],
            }
        ],
    }


def test_the_exit_status_is_one_for_errors_and_warnings_only() -> None:
    assert Report("run", "a.py").exit == 0
    assert Report("run", "a.py", (finding(severity="note"),)).exit == 0
    assert Report("run", "a.py", (finding(severity="note"), finding(severity="warning"))).exit == 1
    assert Report("run", "a.py", (finding(),), exit=139).exit == 139
