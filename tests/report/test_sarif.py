"""SARIF 2.1.0, held against the rules of the official schema that concern the objects we write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, FormatChecker

from sleuth import handbook
from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report
from sleuth.report import render

STRING = {"type": "string"}
COUNT, INDEX = {"type": "integer", "minimum": 1}, {"type": "integer", "minimum": -1}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/definitions/{name}"}


def many(items: dict[str, Any], least: int = 0, unique: bool = False) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": least, "uniqueItems": unique}


def an_object(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these properties; the standard knows more, but Sleuth writes no others."""
    known = properties | {"properties": ref("propertyBag")}
    return {"type": "object", "required": list(required), "properties": known, "additionalProperties": False}


DEFINITIONS = {
    "propertyBag": {"type": "object", "properties": {"tags": many(STRING, unique=True)}},
    "multiformatMessageString": an_object("text", text=STRING, markdown=STRING),
    "message": an_object("text", text=STRING, markdown=STRING),
    "artifactContent": an_object(text=STRING),
    "artifactLocation": an_object(uri={"type": "string", "format": "uri-reference"}, uriBaseId=STRING),
    "region": an_object(
        "startLine", startLine=COUNT, startColumn=COUNT, endLine=COUNT, endColumn=COUNT, snippet=ref("artifactContent")
    ),
    "physicalLocation": an_object("artifactLocation", artifactLocation=ref("artifactLocation"), region=ref("region")),
    "location": an_object(physicalLocation=ref("physicalLocation"), message=ref("message")),
    "threadFlowLocation": an_object("location", location=ref("location")),
    "threadFlow": an_object("locations", locations=many(ref("threadFlowLocation"), least=1)),
    "codeFlow": an_object("threadFlows", threadFlows=many(ref("threadFlow"), least=1)),
    "replacement": an_object("deletedRegion", deletedRegion=ref("region"), insertedContent=ref("artifactContent")),
    "artifactChange": an_object(
        "artifactLocation",
        "replacements",
        artifactLocation=ref("artifactLocation"),
        replacements=many(ref("replacement"), least=1),
    ),
    "fix": an_object(
        "artifactChanges",
        description=ref("message"),
        artifactChanges=many(ref("artifactChange"), least=1, unique=True),
    ),
    "result": an_object(
        "message",
        ruleId=STRING,
        ruleIndex=INDEX,
        level={"enum": ["none", "note", "warning", "error"]},
        message=ref("message"),
        locations=many(ref("location")),
        partialFingerprints={"type": "object", "additionalProperties": STRING},
        codeFlows=many(ref("codeFlow")),
        fixes=many(ref("fix"), unique=True),
    ),
    "reportingDescriptor": an_object(
        "id",
        id=STRING,
        shortDescription=ref("multiformatMessageString"),
        fullDescription=ref("multiformatMessageString"),
        help=ref("multiformatMessageString"),
    ),
    "toolComponent": an_object(
        "name", name=STRING, version=STRING, rules=many(ref("reportingDescriptor"), unique=True)
    ),
    "tool": an_object("driver", driver=ref("toolComponent")),
    "run": an_object(
        "tool",
        tool=ref("tool"),
        columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
        results=many(ref("result")),
    ),
}
RULES = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "definitions": DEFINITIONS,
    **an_object(
        "version",
        "runs",
        **{"$schema": {"type": "string", "format": "uri"}},
        version={"enum": ["2.1.0"]},
        runs=many(ref("run")),
    ),
}
FORMATS = FormatChecker(())


@FORMATS.checks("uri-reference", raises=ValueError)
def is_uri_reference(text: object) -> bool:
    # jsonschema only checks this with an extra package installed.
    assert isinstance(text, str)
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?#[]@!$&'()*+,;=%")
    first = urlsplit(text).path.split("/")[0]
    return set(text) <= allowed and (bool(urlsplit(text).scheme) or ":" not in first)


@FORMATS.checks("uri", raises=ValueError)
def is_uri(text: object) -> bool:
    return is_uri_reference(text) and bool(urlsplit(str(text)).scheme)


def run_of(report: Report, root: Path | None = None) -> dict[str, Any]:
    log = json.loads(render(report, "sarif", root=root))
    Draft7Validator(RULES, format_checker=FORMATS).validate(log)
    run: dict[str, Any] = log["runs"][0]
    return run


def result_of(finding: Finding, root: Path | None = None) -> dict[str, Any]:
    result: dict[str, Any] = run_of(Report("run", "train.py", (finding,)), root)["results"][0]
    return result


def test_the_rules_refuse_what_the_standard_refuses(report: Report) -> None:
    Draft7Validator.check_schema(RULES)
    log = json.loads(render(report, "sarif"))
    result = log["runs"][0]["results"][0]
    for wrong in (
        {"level": "fatal"},
        {"colour": "red"},
        {"message": {}},
        {"locations": [{"physicalLocation": {"artifactLocation": {"uri": "a b.py"}}}]},
        {"locations": [{"physicalLocation": {"artifactLocation": {"uri": "a"}, "region": {"startLine": 0}}}]},
    ):
        log["runs"][0]["results"] = [result | wrong]
        assert not Draft7Validator(RULES, format_checker=FORMATS).is_valid(log), wrong


def test_a_finding_has_its_place_its_level_and_its_words(log_of_zero: Finding, project: Path) -> None:
    result = result_of(log_of_zero, project)
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("log-of-zero", 0, "error")
    assert result["message"]["text"] == (
        "log of a value that reached 0, at step 412.\n"
        "input minimum: 0\nexact zeros: 3\nshape: 1024, 10\n"
        "Try: keep the probability away from 0 (verified)\n"
        "Try: give the logits to F.cross_entropy (not tried)"
    )
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "train.py", "uriBaseId": "%SRCROOT%"},
                "region": {
                    "startLine": 11,
                    "startColumn": 13,
                    "endLine": 11,
                    "endColumn": 25,
                    "snippet": {"text": "torch.log(p)"},
                },
            }
        }
    ]
    assert result["properties"]["certainty"] == "certain"
    assert result["properties"]["step"] == 412


def test_columns_count_characters_as_places_do(report: Report) -> None:
    assert run_of(report)["columnKind"] == "unicodeCodePoints"


def test_the_first_step_is_told_although_it_is_zero(make: Any) -> None:
    assert result_of(make(step=0))["properties"]["step"] == 0


def test_the_end_of_the_code_is_left_open_where_the_file_cannot_confirm_it(
    log_of_zero: Finding, tmp_path: Path
) -> None:
    region = result_of(log_of_zero, tmp_path)["locations"][0]["physicalLocation"]["region"]
    assert "endColumn" not in region
    assert region["snippet"] == {"text": "torch.log(p)"}


def test_the_chain_is_a_code_flow_and_no_sentence_of_it_is_lost(make: Any) -> None:
    links = (Link("born"), Link("grew", Place("a.py", 1)), Link("fell", Place("b.py", 2)), Link("died"))
    steps = result_of(make(chain=links))["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == ["born; grew", "fell; died"]
    assert "placeless" in result_of(make(chain=(Link("placeless"),)))["message"]["text"]


def test_edits_become_changes_grouped_by_file(make: Any) -> None:
    fix = Fix("both", (Edit("b.py", 4, 1, 4, 3, "x"), Edit("a.py", 1, 1, 2, 1, ""), Edit("b.py", 2, 5, 2, 5, "y")))
    (written,) = result_of(make(fixes=(fix, fix, Fix("advice only"))))["fixes"]
    assert written["description"] == {"text": "both"}
    assert [change["artifactLocation"]["uri"] for change in written["artifactChanges"]] == ["b.py", "a.py"]
    assert written["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 2, "startColumn": 5, "endLine": 2, "endColumn": 5},
            "insertedContent": {"text": "y"},
        },
        {
            "deletedRegion": {"startLine": 4, "startColumn": 1, "endLine": 4, "endColumn": 3},
            "insertedContent": {"text": "x"},
        },
    ]


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("src\\my model.py", "src/my%20model.py"),
        ("c:odd#?.py", "c%3Aodd%23%3F.py"),
        ("größe.py", "gr%C3%B6%C3%9Fe.py"),
        ("/opt/lib/x.py", "file:///opt/lib/x.py"),
        ("C:\\lib\\x y.py", "file:///C:/lib/x%20y.py"),
    ],
)
def test_paths_become_uris(make: Any, path: str, uri: str) -> None:
    location = result_of(make(place=Place(path, 1)))["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == uri


def test_braces_and_subscripts_mean_themselves(make: Any) -> None:
    text = result_of(make(title="layers[0](x) gave {0} and [1]"))["message"]["text"]
    assert text == r"layers\[0\](x) gave {{0}} and [1]."


def test_fingerprints_survive_a_moved_line_and_tell_twins_apart(make: Any) -> None:
    def prints(*lines: int) -> list[str]:
        findings = tuple(make(place=Place("a.py", line, 1, line, "log(x)")) for line in lines)
        results = run_of(Report("run", "a.py", findings))["results"]
        return [result["partialFingerprints"]["sleuthFinding/v1"] for result in results]

    assert prints(3) == prints(30)
    first, second = prints(3, 9)
    assert first != second


def test_a_diagnosis_without_a_page_still_has_a_rule(make: Any) -> None:
    (rule,) = run_of(Report("run", "a.py", (make("never-written"), make("never-written"))))["tool"]["driver"]["rules"]
    assert rule["id"] == "never-written"
    assert rule["shortDescription"]["text"] == "never written"
    assert rule["properties"]["tags"] == ["training-anomaly", "invalid-range", "model-training", "nan"]


def test_a_rule_is_told_by_its_page(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    page = handbook.Page(
        name="log-of-zero",
        title="log of zero",
        kind="training-anomaly",
        root_cause="runtime-environment",
        stage="runtime-environment",
        effect="nan",
        engines=(),
        references=(),
        text="## What you see\n\nnan\n\n## What it means\n\nIt **means** this.\n",
    )
    monkeypatch.setattr(handbook, "page", lambda name: page)
    (rule,) = run_of(Report("run", "a.py", (make(),)))["tool"]["driver"]["rules"]
    assert rule == {
        "id": "log-of-zero",
        "shortDescription": {"text": "log of zero"},
        "fullDescription": {"text": "It **means** this."},
        "help": {"text": page.text, "markdown": page.text},
        "properties": {"tags": ["training-anomaly", "runtime-environment", "nan"]},
    }


def test_nothing_found_is_a_valid_log_without_results() -> None:
    run = run_of(Report("check", "a.py"))
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


TEXT = st.text(max_size=20)
PLACES = st.builds(Place, path=TEXT, line=st.integers(1), column=st.none() | st.integers(1), code=st.none() | TEXT)
EDITS = st.builds(
    Edit,
    path=TEXT,
    line=st.integers(1),
    column=st.integers(1),
    end_line=st.integers(1),
    end_column=st.integers(1),
    replacement=TEXT,
)
FINDINGS = st.builds(
    Finding,
    diagnosis=TEXT,
    title=TEXT,
    place=st.none() | PLACES,
    evidence=st.builds(lambda value: (Evidence("x", value),), st.floats() | TEXT),
    chain=st.lists(st.builds(Link, TEXT, st.none() | PLACES), max_size=3).map(tuple),
    fixes=st.lists(st.builds(Fix, TEXT, st.lists(EDITS, max_size=3).map(tuple)), max_size=2).map(tuple),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(findings=st.lists(FINDINGS, max_size=3).map(tuple))
def test_whatever_was_found_the_log_keeps_the_rules(tmp_path: Path, findings: tuple[Finding, ...]) -> None:
    run_of(Report("run", "train.py", findings), tmp_path)
