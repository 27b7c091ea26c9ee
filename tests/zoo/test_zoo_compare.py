"""Every pair of models of `zoo/compare` is what its manifest says: the wrong port is named, the right one silent."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sleuth.compare.verdict import Wishes, compare_deployments, compare_two
from sleuth.findings import Finding

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Case:
    """A port with a fault and its healthy twin."""

    name: str
    folder: Path
    manifest: dict[str, Any]


CASES = [
    Case(manifest.parent.name, manifest.parent, tomllib.loads(manifest.read_text(encoding="utf-8")))
    for manifest in sorted((ROOT / "zoo" / "compare").glob("*/case.toml"))
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def load(path: Path) -> ModuleType:
    name = f"zoo_compare_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def compared(case: Case, program: str) -> tuple[Finding, ...]:
    models = load(case.folder / program)
    if "deploy" in case.manifest:
        verdict = compare_deployments(models.reference(), [case.manifest["deploy"]], Wishes(models.inputs()))
        # How long it takes depends on the machine.
        return tuple(one for one in verdict.findings if one.diagnosis != "slower-after-conversion")
    wishes = Wishes(models.inputs(), train=case.manifest.get("train", False))
    verdict = compare_two(models.reference(), models.port(), wishes)
    assert bool(verdict.findings) != verdict.same
    return verdict.findings


def test_there_are_cases() -> None:
    assert CASES


@each_case
def test_a_manifest_says_what_and_where(case: Case) -> None:
    manifest = case.manifest
    assert {"story", "source", "engine", "diagnosis", "line"} <= set(manifest)
    assert manifest["engine"] == "compare"
    assert (ROOT / "src" / "sleuth" / "handbook" / "pages" / f"{manifest['diagnosis']}.md").exists()
    assert (case.folder / "bug.py").read_text(encoding="utf-8").splitlines()[manifest["line"] - 1].strip()


@each_case
def test_the_fault_is_named_at_its_line(case: Case) -> None:
    found = compared(case, "bug.py")
    assert {finding.diagnosis for finding in found} == {case.manifest["diagnosis"]}
    if "deploy" in case.manifest:  # a deployment has no line of its own
        return
    place = found[0].place
    assert place is not None
    assert (Path(place.path).name, place.line) == ("bug.py", case.manifest["line"])


@each_case
def test_the_healthy_port_is_silent(case: Case) -> None:
    assert compared(case, "healthy.py") == ()
