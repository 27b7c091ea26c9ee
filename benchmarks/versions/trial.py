"""What is tried in each environment, through the commands a user types: the demo, programs of the zoo, the oracles."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from xml.etree import ElementTree

from versions.environments import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ZOO = ROOT / "zoo"
# A program takes seconds; a loaded machine and a build of gigabytes take their time.
LIMIT = 400
RECURRENT = ("nn.LSTM(", "nn.GRU(", "nn.RNN(")


@dataclass
class Score:
    """How many of how many went as they should, and what did not."""

    right: int = 0
    of: int = 0
    wrong: list[str] = field(default_factory=list)

    def count(self, what: str, complaint: str) -> None:
        self.of += 1
        self.right += not complaint
        if complaint:
            self.wrong.append(f"{what}: {complaint}")

    def __str__(self) -> str:
        return f"{self.right}/{self.of}"


@dataclass(frozen=True)
class Case:
    """A program with a bug beside its healthy twin."""

    folder: Path
    manifest: dict[str, Any]

    def command(self, healthy: bool) -> list[str]:
        usual = ["healthy.py" if healthy else "bug.py"]
        told: list[str] = self.manifest.get("run_healthy" if healthy else "run", usual)
        return told

    @property
    def options(self) -> list[str]:
        told: list[str] = self.manifest.get("options", [])
        return told

    def is_recurrent(self) -> bool:
        program = self.folder / self.command(healthy=True)[-1]
        return program.exists() and any(word in program.read_text(encoding="utf-8") for word in RECURRENT)

    def is_named_in(self, findings: list[dict[str, Any]]) -> bool:
        wanted = (self.manifest["diagnosis"], self.manifest["line"])
        return wanted in [(one["diagnosis"], (one["place"] or {}).get("line")) for one in findings]


class Run(Protocol):
    """Runs one of the two programs of a case under Sleuth."""

    def __call__(self, case: Case, *, healthy: bool) -> Ran: ...


class Trial:
    """Everything that is tried with one interpreter. `sample` says how many cases of each kind, None for all."""

    def __init__(self, python: Path, sample: int | None) -> None:
        self.python = python
        self.sample = sample

    def scores(self) -> Iterator[tuple[str, Score]]:
        """Column after column of the table."""
        yield "demo", self._demo()
        yield from self._bugs_and_twins("run", self._spread(_cases("*")), self._watched)
        with self._rehearser() as rehearsed:
            yield from self._bugs_and_twins("dry", self._chosen(_cases("dry/*")), rehearsed)
            yield "dry: others, silent", self._silent(self._chosen(_healthy()), rehearsed)
        yield "oracles", self._tests("tests/testing")
        compared = self._spread([case for case in _cases("compare/*") if "deploy" not in case.manifest])
        words = " or ".join(f"[{case.folder.name}]" for case in compared)
        yield "compare", self._tests("tests/zoo/test_zoo_compare.py", "-k", f"not manifest and ({words})")

    def _spread(self, cases: list[Case]) -> list[Case]:
        """So many of them, evenly from first to last."""
        if self.sample is None or self.sample >= len(cases):
            return cases
        return [cases[round(i * (len(cases) - 1) / max(1, self.sample - 1))] for i in range(self.sample)]

    def _chosen(self, cases: list[Case]) -> list[Case]:
        """Those, and every one with layers whose kernels a build with CUDA has twice."""
        spread = self._spread(cases)
        return spread + [case for case in cases if case not in spread and case.is_recurrent()]

    def _demo(self) -> Score:
        score = Score()
        ran = self._watched(Case(ZOO / "demo", {"run": ["train.py"]}), healthy=False)
        named = [one["diagnosis"] for one in ran.findings or []]
        score.count("demo", "" if named == ["log-of-zero"] else ran.told)
        return score

    def _bugs_and_twins(self, command: str, cases: list[Case], run: Run) -> Iterator[tuple[str, Score]]:
        bugs, twins = Score(), Score()
        for case in cases:
            ran = run(case, healthy=False)
            bugs.count(case.folder.name, "" if case.is_named_in(ran.findings or []) else ran.told)
            ran = run(case, healthy=True)
            twins.count(case.folder.name, "" if ran.is_silent else ran.told)
        yield f"{command}: bugs found", bugs
        yield f"{command}: twins, silent", twins

    def _silent(self, programs: list[Case], run: Run) -> Score:
        score = Score()
        for program in programs:
            ran = run(program, healthy=True)
            score.count(program.manifest["run_healthy"][0], "" if ran.is_silent else ran.told)
        return score

    def _watched(self, case: Case, *, healthy: bool) -> Ran:
        """`sleuth run`, in a copy of the program's folder, which it may write into."""
        with tempfile.TemporaryDirectory() as name:
            scratch = Path(name)
            report = scratch / "report.json"
            here = shutil.copytree(case.folder, scratch / case.folder.name)
            words = ["run", "--no-record", "--format", "json", "--output", str(report), *case.command(healthy)]
            try:
                done = subprocess.run(
                    [str(self.python), "-m", "sleuth", *words],
                    cwd=here,
                    env=_environment(),
                    capture_output=True,
                    text=True,
                    timeout=LIMIT,
                )
            except subprocess.TimeoutExpired:
                return Ran(-1, None, f"took more than {LIMIT} seconds")
            findings = json.loads(report.read_text(encoding="utf-8"))["findings"] if report.exists() else None
            return Ran(done.returncode, findings, done.stderr)

    @contextmanager
    def _rehearser(self) -> Iterator[Run]:
        """`sleuth dry`, from a process that has imported torch once and forks for each program."""
        command = [str(self.python), str(ROOT / "tests" / "zoo" / "rehearser.py")]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_environment()
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            asked, answered = server.stdin, server.stdout

            def rehearsed(case: Case, *, healthy: bool) -> Ran:
                (program,) = case.command(healthy)
                print(json.dumps({"folder": str(case.folder), "program": program, "dry": case.options}), file=asked)
                asked.flush()
                line = answered.readline()
                if not line:
                    return Ran(-1, None, "the rehearser itself died")
                told = json.loads(line)
                return Ran(told["status"], told["findings"], told["stderr"])

            yield rehearsed
            asked.close()

    def _tests(self, *arguments: str) -> Score:
        score = Score()
        with tempfile.TemporaryDirectory() as name:
            results = Path(name) / "results.xml"
            command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}"]
            done = subprocess.run([*command, *arguments], cwd=ROOT, env=_environment(), capture_output=True, text=True)
            if not results.exists():
                score.count(arguments[0], (done.stdout + done.stderr).strip().splitlines()[-1])
                return score
            for test in ElementTree.parse(results).iter("testcase"):
                bad = next((one for one in test if one.tag in ("failure", "error")), None)
                skipped = any(one.tag == "skipped" for one in test)
                if not skipped:
                    said = "" if bad is None else (bad.get("message") or "failed").splitlines()[0]
                    score.count(str(test.get("name")), said)
        return score


@dataclass(frozen=True)
class Ran:
    status: int
    findings: list[dict[str, Any]] | None
    stderr: str

    @property
    def is_silent(self) -> bool:
        return (self.findings, self.status) == ([], 0)

    @property
    def told(self) -> str:
        """In a line, what came instead of what was expected."""
        if self.findings:
            return "; ".join(f"{one['diagnosis']} at line {(one['place'] or {}).get('line')}" for one in self.findings)
        last = [line for line in self.stderr.strip().splitlines() if "sleuth:" in line] or self.stderr.splitlines()
        return f"status {self.status}: {last[-1] if last else 'nothing found'}"


def about(python: Path) -> dict[str, str]:
    """What the interpreter says of itself."""
    asked = "import platform, torch; print(platform.python_version(), torch.__version__, torch.version.cuda)"
    told = subprocess.run([str(python), "-c", asked], capture_output=True, text=True, check=True).stdout
    version, torch, cuda = told.split()[-3:]
    return {"python": version, "torch": torch.split("+")[0], "build": "CPU" if cuda == "None" else f"CUDA {cuda}"}


def tried(python: Path, sample: int | None) -> dict[str, Any]:
    """One row of the table."""
    began = time.monotonic()
    row: dict[str, Any] = {**about(python), "scores": {}, "wrong": []}
    for column, score in Trial(python, sample).scores():
        print(f"  {column}: {score}", flush=True)
        row["scores"][column] = str(score)
        row["wrong"] += [f"{column}: {what}" for what in score.wrong]
    row["minutes"] = round((time.monotonic() - began) / 60, 1)
    return row


def _cases(where: str) -> list[Case]:
    manifests = sorted(ZOO.glob(f"{where}/case.toml"))
    found = [Case(one.parent, tomllib.loads(one.read_text(encoding="utf-8"))) for one in manifests]
    return [case for case in found if where != "*" or case.manifest["engine"] == "live"]


def _healthy() -> list[Case]:
    """Programs without a twin."""
    return [Case(one.parent, {"run_healthy": [one.name]}) for one in sorted((ZOO / "healthy").glob("*.py"))]


def _environment() -> dict[str, str]:
    """Nothing of the surroundings' Python gets in; Sleuth is the one that is installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return {**kept, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore"}
