"""Every zoo program does what its manifest says, with and without Sleuth; the healthy ones get no finding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
ZOO = ROOT / "zoo"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT / "src"),
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "ignore",
}
# The manifest's step where another CPU gives another one: the step at which this run goes bad, whichever that is.
ROUNDING_DECIDES = "first-bad"
# Where the number first shows; all other diagnoses may show in the loss or in a gradient.
SHOWS_AS = {"update-not-finite": {"weight"}, "grad-scaler-collapse": {"scale"}}


@dataclass(frozen=True)
class Case:
    """A bug and its healthy twin, and what the manifest says of the bug."""

    name: str
    folder: Path
    manifest: dict[str, Any]

    @property
    def bug(self) -> list[str]:
        return self.manifest.get("run", ["bug.py"])

    @property
    def healthy(self) -> list[str]:
        return self.manifest.get("run_healthy", ["healthy.py"])

    @property
    def path(self) -> str:
        return self.manifest.get("file", "bug.py")


def cases() -> list[Case]:
    manifests = sorted(ZOO.glob("*/case.toml"))
    found = [Case(m.parent.name, m.parent, tomllib.loads(m.read_text(encoding="utf-8"))) for m in manifests]
    return [case for case in found if case.manifest["engine"] == "live"]


CASES = cases()
# A number turns bad at a step; in the other cases the network learns badly, or the program crashes.
NUMERIC = [case for case in CASES if "step" in case.manifest]
LEARNING = [case for case in CASES if "step" not in case.manifest]
CRASHES = [case for case in LEARNING if "crash" in case.manifest]
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
each_numeric = pytest.mark.parametrize("case", NUMERIC, ids=[case.name for case in NUMERIC])
each_learning = pytest.mark.parametrize("case", LEARNING, ids=[case.name for case in LEARNING])
HEALTHY = [(case.folder, case.healthy) for case in CASES]
HEALTHY += [(path.parent, [path.name]) for path in sorted((ZOO / "healthy").glob("*.py"))]
each_healthy = pytest.mark.parametrize(("folder", "run"), HEALTHY, ids=[f"{f.name}/{r[-1]}" for f, r in HEALTHY])


def mentions(word: str, folder: Path, run: list[str]) -> bool:
    sources = (folder / run[1].split(".")[0]).glob("*.py") if run[0] == "-m" else [folder / run[0]]
    return any(word in source.read_text(encoding="utf-8") for source in sources)


# A program's folder, how it is run, and the seed of what shakes its gradients, if anything does.
Probe = Callable[..., dict[str, Any]]


@contextmanager
def server(script: str) -> Iterator[Probe]:
    """A process that has imported torch and runs one program after the other; what was run once is remembered."""
    command = [sys.executable, str(Path(__file__).with_name(script))]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers: dict[str, dict[str, Any]] = {}

        def ask(folder: Path, run: list[str], shaken: int | None = None) -> dict[str, Any]:
            job = {
                "folder": str(folder),
                "run": run,
                "optimisers": mentions("optim", folder, run),
                "forks": mentions("multiprocessing", folder, run),
                "shaken": shaken,
            }
            line = json.dumps(job)
            if line not in answers:
                print(line, file=process.stdin, flush=True)
                answers[line] = json.loads(process.stdout.readline())
            return answers[line]

        yield ask
        process.stdin.close()


@pytest.fixture(scope="session")
def probe() -> Iterator[Probe]:
    """Run a program without Sleuth, under the hooks of `probe.py`."""
    with server("probe.py") as ask:
        yield ask


@dataclass(frozen=True)
class Watched:
    status: int
    stdout: str
    findings: list[dict[str, Any]]


Watcher = Callable[[Path, list[str]], Watched]


@pytest.fixture(scope="session")
def watched() -> Iterator[Watcher]:
    """Run a program under `sleuth run`."""
    with server("watcher.py") as ask:

        def watch(folder: Path, run: list[str]) -> Watched:
            ran = ask(folder, run)
            assert ran["findings"] is not None, ran["stderr"]
            return Watched(ran["status"], ran["stdout"], ran["findings"])

        yield watch


@each_case
def test_a_manifest_says_what_where_and_when(case: Case) -> None:
    manifest = case.manifest
    assert {"story", "source", "engine", "diagnosis", "line"} <= set(manifest)
    assert (ROOT / "src" / "sleuth" / "handbook" / "pages" / f"{manifest['diagnosis']}.md").exists()
    lines = (case.folder / case.path).read_text(encoding="utf-8").splitlines()
    assert lines[manifest["line"] - 1].strip()


@each_numeric
def test_a_bug_really_goes_bad_at_the_step_it_says(case: Case, probe: Probe) -> None:
    ran = probe(case.folder, case.bug)
    assert ran["verdict"] is not None, ran["stderr"]
    kind, step = ran["verdict"]["kind"], ran["verdict"]["step"]
    assert case.manifest["step"] in (step, ROUNDING_DECIDES)
    diagnosis = case.manifest["diagnosis"]
    only_gradient = "-gradient-" in diagnosis or diagnosis == "where-hides-bad-gradient"
    assert kind in SHOWS_AS.get(diagnosis, {"gradient"} if only_gradient else {"loss", "gradient"})


@each_numeric
def test_the_last_bits_do_not_decide_a_step_that_a_manifest_names(case: Case, probe: Probe) -> None:
    if case.manifest["step"] == ROUNDING_DECIDES:
        pytest.skip("the manifest names none")
    steps = [probe(case.folder, case.bug, shaken=seed)["verdict"]["step"] for seed in (1, 2)]
    assert steps == [case.manifest["step"]] * 2


@each_numeric
def test_sleuth_names_the_bug_its_line_and_its_step(case: Case, watched: Watcher, probe: Probe) -> None:
    ran = watched(case.folder, case.bug)
    manifest = case.manifest
    assert ran.status == 1
    errors = [finding for finding in ran.findings if finding["severity"] == "error"]
    assert len(errors) == 1, ran.findings
    (finding,) = errors
    evidence = {item["name"]: item["value"] for item in finding["evidence"]}
    named = {
        "diagnosis": finding["diagnosis"],
        "place": (finding["place"]["path"], finding["place"]["line"]),
        "step": finding["step"],
    }
    expected = {
        "diagnosis": manifest["diagnosis"],
        "place": (case.path, manifest["line"]),
        "step": probe(case.folder, case.bug)["verdict"]["step"],
    }
    keys = {
        "operation": "operation",
        "sample": "sample index",
        "batch_row": "row in batch",
        "weight": "weight",
        "buffer": "buffer",
    }
    for key, name in keys.items():
        if key in manifest:
            named[key], expected[key] = evidence.get(name), manifest[key]
            # Several, where the order in which a kernel sums decides which of them is first.
            if isinstance(manifest[key], list) and named[key] in manifest[key]:
                expected[key] = named[key]
    assert named == expected


@each_learning
def test_sleuth_names_why_a_network_does_not_learn(case: Case, watched: Watcher) -> None:
    ran = watched(case.folder, case.bug)
    manifest = case.manifest
    named = [(f["diagnosis"], f["place"]["path"], f["place"]["line"]) for f in ran.findings]
    assert (manifest["diagnosis"], case.path, manifest["line"]) in named
    # Nothing else is alleged, and a hint is told as one.
    alleged = [finding for finding in ran.findings if finding["severity"] != "note"]
    assert len(alleged) <= 1, named
    assert ran.status == int(bool(alleged) or "crash" in manifest)


@pytest.mark.parametrize("case", CRASHES, ids=[case.name for case in CRASHES])
def test_a_program_that_should_crash_does(case: Case, probe: Probe) -> None:
    ran = probe(case.folder, case.bug)
    assert (ran["status"], ran["verdict"]) == (1, None)
    assert case.manifest["crash"] in ran["stderr"]


def test_there_are_sixty_kinds_of_bug_and_more() -> None:
    assert len({case.manifest["diagnosis"] for case in LEARNING}) >= 60


@each_healthy
def test_a_healthy_program_stays_finite_and_sleuth_has_nothing_to_say_about_it(
    folder: Path, run: list[str], watched: Watcher, probe: Probe
) -> None:
    alone = probe(folder, run)
    assert (alone["status"], alone["verdict"]) == (0, None), alone["stderr"]
    ran = watched(folder, run)
    assert ran.findings == []
    assert ran.status == 0
    assert ran.stdout == alone["stdout"]


def test_the_demo_trains_for_a_while_before_its_log_of_zero(watched: Watcher) -> None:
    ran = watched(ZOO / "demo", ["train.py"])
    (finding,) = ran.findings
    assert finding["diagnosis"] == "log-of-zero"
    assert "torch.log(p)" in finding["place"]["code"]
    assert ran.stdout.count("epoch") >= 2
    assert "nan" not in ran.stdout
