"""Every program of `zoo/dry` is what its manifest says, and `sleuth dry` finds each bug before it happens."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
REHEARSER = Path(__file__).with_name("rehearser.py")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}


@dataclass(frozen=True)
class Case:
    """A bug and its healthy twin, and what the manifest says of the bug."""

    name: str
    folder: Path
    manifest: dict[str, Any]


CASES = [
    Case(manifest.parent.name, manifest.parent, tomllib.loads(manifest.read_text(encoding="utf-8")))
    for manifest in sorted((ROOT / "zoo" / "dry").glob("*/case.toml"))
]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])

Ran = dict[str, Any]
# Runs the bug and its healthy twin, both at the same time.
Run = Callable[[Case], tuple[Ran, Ran]]


@pytest.fixture(scope="module")
def servers() -> Iterator[list[subprocess.Popen[str]]]:
    command = [sys.executable, str(REHEARSER)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        for _ in range(2)
    ]
    yield started
    for server in started:
        server.communicate()


def runner(servers: list[subprocess.Popen[str]], *, dry: bool) -> Run:
    def ask(server: subprocess.Popen[str], case: Case, program: str) -> Ran:
        assert server.stdin is not None
        assert server.stdout is not None
        options = case.manifest.get("options", []) if dry else None
        job = {"folder": str(case.folder), "program": program, "dry": options}
        print(json.dumps(job), file=server.stdin, flush=True)
        return json.loads(server.stdout.readline())

    ran: dict[str, tuple[Ran, Ran]] = {}

    def both(case: Case) -> tuple[Ran, Ran]:
        if case.name not in ran:
            with ThreadPoolExecutor() as pool:
                bug, healthy = pool.map(ask, servers, [case, case], ["bug.py", "healthy.py"])
            ran[case.name] = bug, healthy
        return ran[case.name]

    return both


@pytest.fixture(scope="module")
def run(servers: list[subprocess.Popen[str]]) -> Run:
    """Run the programs of a case without Sleuth."""
    return runner(servers, dry=False)


@pytest.fixture(scope="module")
def rehearse(servers: list[subprocess.Popen[str]]) -> Run:
    """Run them under `sleuth dry`."""
    return runner(servers, dry=True)


def told(finding: dict[str, Any]) -> str:
    """All that a finding says in words."""
    evidence = [str(item["value"]) for item in finding["evidence"]]
    return "\n".join([finding["title"], *evidence, *(link["what"] for link in finding["chain"])])


def plain(operation: str) -> str:
    """`max_pool2d` and `MaxPool2d` are the same to a reader."""
    return operation.replace("_", "").lower()


def in_order(operations: list[str], chain: list[dict[str, Any]]) -> bool:
    links = iter([plain(link["what"]) for link in chain])
    return all(any(plain(operation) in link for link in links) for operation in operations)


@each_case
def test_a_manifest_says_what_and_where(case: Case) -> None:
    manifest = case.manifest
    assert {"story", "source", "engine", "diagnosis", "line", "history"} <= set(manifest)
    assert manifest["engine"] == "dry"
    assert (ROOT / "src" / "sleuth" / "handbook" / "pages" / f"{manifest['diagnosis']}.md").exists()
    assert (case.folder / "bug.py").read_text(encoding="utf-8").splitlines()[manifest["line"] - 1].strip()


@each_case
def test_a_bug_shows_without_a_gpu_only_where_its_manifest_says_so_and_the_twin_runs(case: Case, run: Run) -> None:
    manifest = case.manifest
    if manifest.get("beyond_this_machine"):
        pytest.skip("would take more memory or time than there is")
    bug, healthy = run(case)
    assert healthy["status"] == 0, healthy["stderr"]
    if "crash" not in manifest:
        assert bug["status"] == 0, bug["stderr"]
        return
    assert bug["status"] == 1
    assert int(re.findall(r'bug\.py", line (\d+)', bug["stderr"])[-1]) == manifest.get("raised", manifest["line"])
    assert re.search(rf"^(\S+\.)?{manifest['crash']}\b", bug["stderr"], re.MULTILINE), bug["stderr"]
    assert re.search(manifest["message"], bug["stderr"]), bug["stderr"]


@each_case
def test_a_rehearsal_finds_the_bug_tells_its_history_and_is_silent_about_the_twin(case: Case, rehearse: Run) -> None:
    manifest = case.manifest
    before = sorted(path.name for path in case.folder.iterdir())
    bug, healthy = rehearse(case)
    assert bug["findings"] is not None, bug["stderr"]
    found = [(finding["diagnosis"], finding["place"] and finding["place"]["line"]) for finding in bug["findings"]]
    assert found == [(manifest["diagnosis"], manifest["line"])]
    (finding,) = bug["findings"]
    assert in_order(manifest["history"], finding["chain"]), [link["what"] for link in finding["chain"]]
    for words in (manifest.get("error", ""), manifest.get("message", "")):
        assert re.search(words, told(finding)), told(finding)
    if "made" in manifest:
        assert manifest["made"] in [link["place"] and link["place"]["line"] for link in finding["chain"]]
    assert (healthy["findings"], healthy["status"]) == ([], 0), healthy["stderr"]
    for ran in (bug, healthy):
        assert ran["left"] == before
        assert "inside Sleuth failed" not in ran["stderr"], ran["stderr"]


def test_there_are_thirty_kinds_of_bug_and_more() -> None:
    assert len({case.manifest["diagnosis"] for case in CASES}) >= 30
