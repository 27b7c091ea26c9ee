"""Running small training scripts under `sleuth run`, as a user would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "src"
TIMEOUT = 600


@dataclass(frozen=True)
class Ran:
    """What came of a run: its report, exit status and output."""

    status: int
    stdout: str
    stderr: str
    report: dict[str, Any] | None

    @property
    def findings(self) -> list[dict[str, Any]]:
        assert self.report is not None, self.stderr
        return self.report["findings"]

    @property
    def only(self) -> dict[str, Any]:
        assert len(self.findings) == 1, (self.findings, self.stderr)
        return self.findings[0]

    def evidence(self, name: str) -> Any:
        return next((item["value"] for item in self.only["evidence"] if item["name"] == name), None)


@pytest.fixture
def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(SOURCE)}


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    """Write a script into the temporary folder."""

    def write(source: str, name: str = "train.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source).lstrip("\n"))
        return path

    return write


@pytest.fixture
def sleuth_run(tmp_path: Path, environment: dict[str, str]) -> Callable[..., Ran]:
    """`sleuth run` in the temporary folder, the report read back as JSON."""

    def run(*arguments: str, record: bool = False) -> Ran:
        output = tmp_path / "report.json"
        command = [sys.executable, "-m", "sleuth", "run", "--format", "json", "--output", str(output)]
        command += [] if record else ["--no-record"]
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=TIMEOUT
        )
        report = json.loads(output.read_text()) if output.exists() else None
        return Ran(done.returncode, done.stdout, done.stderr, report)

    return run


@pytest.fixture
def run_script(script: Callable[..., Path], sleuth_run: Callable[..., Ran]) -> Callable[..., Ran]:
    """Write a script and run it with `sleuth run`; options go before it, arguments after."""

    def run(source: str, *arguments: str, options: tuple[str, ...] = (), record: bool = False) -> Ran:
        return sleuth_run(*options, script(source).name, *arguments, record=record)

    return run
