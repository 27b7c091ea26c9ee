"""The real `sleuth` command in a real process, with a small handbook and a stand-in for the engine behind `run`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PAGE = """\
+++
title = "{title}"
kind = "training-anomaly"
root_cause = "{root_cause}"
stage = "model-training"
effect = "{effect}"
engines = ["live"]
references = ["https://example.org/one", "https://example.org/two, three"]
+++
## What you see

The loss is `nan`.

```python
## not a heading
loss = torch.log(p)
```

## Why

{why}

## How to fix

Clamp it.
"""

BOOT = """\
import sys, types
sys.argv[0], pages, stand_in = "sleuth", sys.argv.pop(1), sys.argv.pop(1)
import sleuth.handbook
sleuth.handbook.PAGES = pages
if stand_in:
    exec(compile(open(stand_in).read(), stand_in, "exec"), {})
from sleuth.cli import main
sys.exit(main())
"""

STAND_IN = """\
import json, os, sys, types
from dataclasses import dataclass
from pathlib import Path

from sleuth import handbook, program
from sleuth.findings import Place, Report, exit_status


def run(subject, *, keep_going, record, ignore, publish, tensorboard, status, bundle, expect, quiet, experiments=None):
    seen = {"tensorboard": tensorboard and str(tensorboard), "status": status, "bundle": bundle, "quiet": quiet}
    seen |= {"keep_going": keep_going, "record": record and str(record), "ignore": sorted(ignore)}
    seen["experiments"] = experiments
    Path("seen.json").write_text(json.dumps(seen))
    found = () if "healthy" in subject.name else (handbook.finding("log-of-zero", place=Place(subject.name, 1)),)
    status = program.run(subject).status
    report = Report("run", subject.name, found, status or exit_status(found))
    publish(report, Watched(1))
    return report


@dataclass
class Watched:
    steps: int
    why: str | None = None


@dataclass
class Story:
    report: Report
    summary: str


def read(path):
    if not (path / "report.json").exists():
        raise LookupError(f"{path} holds no run")
    report = Report.from_json(json.loads((path / "report.json").read_text()))
    return Story(report, "killed or still running: last seen at step 512")


def newest(root):
    runs = sorted((root / "runs").glob("*")) if (root / "runs").exists() else []
    if not runs:
        raise LookupError(f"there is no run under {root}")
    return runs[-1]


live, record = types.ModuleType("sleuth.live"), types.ModuleType("sleuth.live.record")
live.run, record.read, record.newest, live.record = run, read, newest, record
live.NoTensorBoard = live.CannotExpect = RuntimeError
live.say_if_it_trains_on = lambda: None
sys.modules.update({"sleuth.live": live, "sleuth.live.record": record})
import sleuth
sleuth.live = live
"""

Sleuth = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A handbook of three pages."""
    folder = tmp_path_factory.mktemp("pages")
    for name, title, root_cause, effect, why in (
        ("log-of-zero", "log of a value that reached 0", "invalid-range", "nan", "A probability underflowed."),
        ("log-of-zeta", "log of a value nobody knows", "invalid-range", "nan", "Nobody knows."),
        ("missing-zero-grad", "gradients add up", "api-misuse", "bad-performance", "Nothing clears the gradients."),
    ):
        page = PAGE.format(title=title, root_cause=root_cause, effect=effect, why=why)
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def environment() -> dict[str, str]:
    """The environment without anything that asks for colour, or for none."""
    unwanted = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "SLEUTH_DEBUG")
    return {name: value for name, value in os.environ.items() if name not in unwanted}


@pytest.fixture
def command(pages: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., list[str]]:
    """The words that start `sleuth`, with the stand-in engine unless told otherwise."""
    stand_in = tmp_path_factory.mktemp("engine") / "stand_in.py"
    stand_in.write_text(STAND_IN)

    def words(*arguments: str, stand_in_engine: bool = True) -> list[str]:
        return [sys.executable, "-c", BOOT, str(pages), str(stand_in) if stand_in_engine else "", *arguments]

    return words


@pytest.fixture
def sleuth(command: Callable[..., list[str]], environment: dict[str, str], tmp_path: Path) -> Sleuth:
    """Runs `sleuth` with these arguments in a folder of its own."""

    def run(
        *arguments: str, cwd: Path = tmp_path, stand_in_engine: bool = True, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(*arguments, stand_in_engine=stand_in_engine),
            cwd=cwd,
            env={**environment, **variables},
            capture_output=True,
            encoding="utf-8",
            timeout=600,
        )

    return run
