"""The house plan holds: every check has its page and its zoo case, and engines keep to themselves."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from sleuth import handbook
from sleuth.live import checks, crashes, rules
from sleuth.source import checks as source_checks

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "sleuth"
ENGINES = {"source", "dry", "live", "graph", "data", "compare", "profile", "environment", "triage", "study"}
# What is said when nothing is known: no program goes wrong in this way by design. And what a program says itself.
WITHOUT_A_CASE = {
    "non-finite-loss",
    "unexplained-non-finite",
    "rank-ended-early",
    "broken-expectation",
    "exception-in-a-step",
    "slower-after-conversion",
}
CHECKS = [name for name, _ in checks.in_order()]
RULES = [name for _, name, _ in rules.in_order()]
CASES = [tomllib.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "zoo").rglob("case.toml")]


@pytest.mark.parametrize("diagnosis", [*CHECKS, *RULES])
def test_every_check_has_a_page_that_names_its_engine(diagnosis: str) -> None:
    assert "live" in handbook.page(diagnosis).engines


@pytest.mark.parametrize("diagnosis", sorted(crashes.diagnoses()))
def test_every_explanation_of_a_crash_has_a_page_that_names_its_engine(diagnosis: str) -> None:
    assert "live" in handbook.page(diagnosis).engines


@pytest.mark.parametrize("diagnosis", source_checks.names())
def test_every_check_of_the_source_has_a_page_that_names_its_engine(diagnosis: str) -> None:
    assert "source" in handbook.page(diagnosis).engines


@pytest.mark.parametrize("name", [name for name in handbook.names() if "source" in handbook.page(name).engines])
def test_every_page_that_names_the_source_has_its_check(name: str) -> None:
    assert name in source_checks.names()


@pytest.mark.parametrize("diagnosis", sorted(set(handbook.names()) - WITHOUT_A_CASE))
def test_every_diagnosis_has_a_zoo_case(diagnosis: str) -> None:
    assert diagnosis in {case["diagnosis"] for case in CASES}


def test_a_check_is_asked_before_those_it_refines() -> None:
    for name, module in checks.in_order():
        for refined in getattr(module, "REFINES", ()):
            assert CHECKS.index(name) < CHECKS.index(refined.replace("_", "-")), (name, refined)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_engines_import_neither_each_other_nor_a_report_nor_the_cli(path: Path) -> None:
    package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if package not in ENGINES | {"findings", "handbook", "program", "layer_source", "known_errors"}:
        return
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "sleuth":
            imported |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sleuth."):
            imported.add((node.module or "").split(".")[1])
    assert not (imported & (ENGINES | {"cli", "report"})) - {package}
