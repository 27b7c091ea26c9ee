"""Every bug of the zoo that source code shows is found at its line, and healthy programs get no finding."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from sleuth.findings import Finding
from sleuth.source import checks
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ZOO = Path(__file__).parents[2] / "zoo"
MANIFESTS = {path.parent: tomllib.loads(path.read_text("utf-8")) for path in sorted(ZOO.glob("source/*/case.toml"))}
each_case = pytest.mark.parametrize(("folder", "case"), MANIFESTS.items(), ids=[folder.name for folder in MANIFESTS])
HEALTHY = sorted({*ZOO.glob("*/healthy.py"), *ZOO.glob("healthy/*.py"), *ZOO.glob("source/*/healthy.py")})


def found(path: Path) -> tuple[Finding, ...]:
    result = examine(Unit(str(path), path.read_text("utf-8"), path.name), Project(path.parent))
    assert result.problem is None
    assert not result.broken, result.broken
    return result.findings


@each_case
def test_a_manifest_says_what_and_where(folder: Path, case: dict[str, Any]) -> None:
    assert {"story", "source", "engine", "diagnosis", "line"} <= set(case)
    assert case["engine"] == "source"
    assert (folder / "bug.py").read_text("utf-8").splitlines()[case["line"] - 1].strip()


@each_case
def test_the_bug_is_found_at_its_line_and_nothing_else_is_alleged(folder: Path, case: dict[str, Any]) -> None:
    findings = found(folder / "bug.py")
    named = {(finding.diagnosis, finding.place.line) for finding in findings if finding.place is not None}
    assert (case["diagnosis"], case["line"]) in named
    alleged = {finding.diagnosis for finding in findings if finding.severity != "note"}
    assert alleged <= {case["diagnosis"]}
    hint = all(f.severity == "note" for f in findings if f.diagnosis == case["diagnosis"])
    assert hint == case.get("hint", False)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_healthy_program_gets_no_finding(path: Path) -> None:
    said = [f"{f.diagnosis} {f.place.line if f.place else 0}" for f in found(path) if f.severity != "note"]
    assert said == []


@pytest.mark.parametrize("folder", list(MANIFESTS), ids=lambda folder: folder.name)
def test_the_healthy_twin_gets_not_even_a_hint(folder: Path) -> None:
    assert [f.diagnosis for f in found(folder / "healthy.py")] == []


def test_every_check_of_the_source_has_a_pair() -> None:
    live = {tomllib.loads(path.read_text("utf-8"))["diagnosis"]: path.parent for path in ZOO.glob("*/case.toml")}
    in_source = {case["diagnosis"] for case in MANIFESTS.values()}
    missing = [name for name in checks.names() if name not in in_source and not _seen(live.get(name), name)]
    assert missing == []


def _seen(folder: Path | None, name: str) -> bool:
    """Is a diagnosis found in the program that the live engine is tested with?"""
    return folder is not None and any(f.diagnosis == name for path in folder.glob("*.py") for f in found(path))


def test_there_are_seventy_checks_and_more() -> None:
    assert len(checks.names()) >= 70
