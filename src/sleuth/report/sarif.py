"""A report as SARIF 2.1.0, for code scanning and editors."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

import sleuth
from sleuth import handbook
from sleuth.findings import Edit, Finding, Fix, Link, Place, Report, finding_to_json
from sleuth.notebook import split_name
from sleuth.report import edits, excerpt, wording

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
Json = dict[str, Any]
_PROPERTIES = ("certainty", "step", "rank", "evidence")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_LINK = re.compile(r"\[([^\[\]]*)\]\(")


def render(report: Report, *, root: Path, problems: tuple[str, ...] = ()) -> str:
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report, root) | _invocations(problems)]}
    return json.dumps(log, indent=2, allow_nan=False)


def _run(report: Report, root: Path) -> Json:
    first: dict[str, Finding] = {}
    for finding in report.findings:
        first.setdefault(finding.diagnosis, finding)
    order = list(first)
    seen: Counter[str] = Counter()
    rules = [_rule(finding) for finding in first.values()]
    return {
        "tool": {"driver": {"name": "Sleuth", "version": sleuth.__version__, "rules": rules}},
        # Places count characters, as Python does.
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, order.index(finding.diagnosis), seen, root) for finding in report.findings],
        "properties": {"command": report.command, "program": report.program, "exit": report.exit},
    }


def _invocations(problems: tuple[str, ...]) -> Json:
    """What could not be done, if anything."""
    notes = [{"level": "warning", "message": _message(problem)} for problem in problems]
    return {"invocations": [{"executionSuccessful": True, "toolExecutionNotifications": notes}]} if notes else {}


def _rule(finding: Finding) -> Json:
    try:
        page = handbook.page(finding.diagnosis)
    except (LookupError, ValueError, OSError):
        return _rule_without_page(finding)
    meaning = page.sections.get("What it means", page.title)
    tags = (page.kind, page.root_cause, page.stage, page.effect)
    return {
        "id": page.name,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": meaning},
        "help": {"text": page.text, "markdown": page.text},
        "properties": {"tags": list(dict.fromkeys(tags))},
    }


def _rule_without_page(finding: Finding) -> Json:
    words = finding.diagnosis.replace("-", " ")
    tags = (finding.kind, finding.root_cause, finding.stage, finding.effect)
    return {
        "id": finding.diagnosis,
        "shortDescription": {"text": words},
        "fullDescription": {"text": words},
        "help": {"text": f"sleuth explain {finding.diagnosis}"},
        "properties": {"tags": list(dict.fromkeys(tags))},
    }


def _result(finding: Finding, rule: int, seen: Counter[str], root: Path) -> Json:
    result: Json = {
        "ruleId": finding.diagnosis,
        "ruleIndex": rule,
        "level": finding.severity,
        "message": _message(_told(finding)),
        "locations": [] if finding.place is None else [_location(finding.place, root)],
        "partialFingerprints": {"sleuthFinding/v1": _fingerprint(finding, seen)},
    }
    flow = _flow(finding.chain, root)
    if flow:
        result["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
    fixes = [_fix(fix) for fix in finding.fixes if fix.edits and not any(_is_in_a_cell(edit) for edit in fix.edits)]
    if fixes:
        result["fixes"] = [fix for index, fix in enumerate(fixes) if fix not in fixes[:index]]
    told = finding_to_json(finding)
    result["properties"] = {name: told[name] for name in _PROPERTIES if told[name] not in (None, [])}
    return result


def _told(finding: Finding) -> str:
    moment = [wording.sentence(finding.title), wording.when(finding), wording.in_cell(finding)]
    lines = [", ".join(filter(None, moment)) + "."]
    lines += (f"{wording.sentence(item.name)}: {wording.value(item.value)}" for item in finding.evidence)
    if not any(link.place for link in finding.chain):
        lines += (wording.sentence(link.what) for link in finding.chain)
    lines += (f"Try: {wording.sentence(fix.title)}{wording.tried(fix)}" for fix in finding.fixes)
    return "\n".join(lines)


def _message(text: str) -> Json:
    """A message that means itself: SARIF reads `{0}` as a placeholder and `layers[0](x)` as a link."""
    return {"text": _LINK.sub(r"\\[\1\\](", text.replace("{", "{{").replace("}", "}}"))}


def _location(place: Place, root: Path, what: str | None = None) -> Json:
    place = excerpt.in_file(place, root)
    physical = {"artifactLocation": _artifact(place.path), "region": _region(place, root)}
    return {"physicalLocation": physical} | ({} if what is None else {"message": _message(what)})


def _artifact(path: str) -> Json:
    if _DRIVE.match(path):
        return {"uri": "file:///" + _quoted(PureWindowsPath(path).as_posix(), safe="/:")}
    if PurePosixPath(path).is_absolute():
        return {"uri": "file://" + _quoted(path)}
    return {"uri": _quoted(wording.posix(path)), "uriBaseId": "%SRCROOT%"}


def _quoted(path: str, safe: str = "/") -> str:
    return quote(path, safe=safe, errors="surrogatepass")


def _region(place: Place, root: Path) -> Json:
    region: Json = {"startLine": place.line}
    if place.column is not None:
        region["startColumn"] = place.column
    region["endLine"] = max(place.line, place.end_line or place.line)
    if not place.code:
        return region
    text = excerpt.read(place.path, root)
    span = None if text is None else excerpt.locate(place, text)
    if span is not None:
        region |= {"startColumn": span.column, "endLine": span.end_line, "endColumn": span.end_column}
    region["snippet"] = {"text": place.code}
    return region


def _flow(chain: tuple[Link, ...], root: Path) -> list[Json]:
    """The links that have a place; what the others say goes with the next one, or the last."""
    flow: list[Json] = []
    waiting: list[str] = []
    last = max((index for index, link in enumerate(chain) if link.place), default=-1)
    for index, link in enumerate(chain):
        waiting.append(wording.sentence(link.what))
        if link.place is not None:
            if index == last:
                waiting += (wording.sentence(later.what) for later in chain[index + 1 :])
            flow.append({"location": _location(link.place, root, "; ".join(waiting))})
            waiting = []
    return flow


def _is_in_a_cell(edit: Edit) -> bool:
    """Whoever reads SARIF would make such an edit in the notebook's JSON, and break it."""
    return split_name(edit.path)[1] is not None


def _fix(fix: Fix) -> Json:
    changes = [
        {"artifactLocation": _artifact(path), "replacements": [_replacement(edit) for edit in group]}
        for path, group in edits.by_file(fix.edits).items()
    ]
    return {"description": _message(wording.sentence(fix.title)), "artifactChanges": changes}


def _replacement(edit: Edit) -> Json:
    region = {
        "startLine": edit.line,
        "startColumn": edit.column,
        "endLine": edit.end_line,
        "endColumn": edit.end_column,
    }
    return {"deletedRegion": region, "insertedContent": {"text": edit.replacement}}


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """The same for the same finding after lines were added above it; alike findings are counted apart."""
    place = finding.place
    where = () if place is None else (wording.posix(place.path), " ".join((place.code or str(place.line)).split()))
    same = "\0".join((finding.diagnosis, *where))
    seen[same] += 1
    return hashlib.sha256(f"{same}\0{seen[same]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
