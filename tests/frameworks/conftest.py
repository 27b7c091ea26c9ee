"""Running the programs under `programs/`, in a folder of their own, under `sleuth run` or by themselves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SERVER = Path(__file__).with_name("forking.py")
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(SOURCE),
    "OMP_NUM_THREADS": "1",
    "PYTHONWARNINGS": "ignore",
    "HF_HUB_OFFLINE": "1",
    "NO_COLOR": "1",
}


@dataclass(frozen=True)
class Program:
    """A program with marks in its comments: `# found: DIAGNOSIS` on the line a finding is to name, `# mended: CODE`
    above the line that is wrong."""

    path: Path

    @property
    def found(self) -> tuple[str, int] | None:
        for number, line in enumerate(self.source.splitlines(), 1):
            mark = re.search(r"# found: (\S+)", line)
            if mark:
                return mark.group(1), number
        return None

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def mended(self) -> str:
        """The healthy twin: the same program, that one line put right."""
        twin, count = re.subn(r"^(\s*)# mended: (.*)\n.*$", r"\1\2", self.source, flags=re.MULTILINE)
        assert count == 1, self.path
        return twin


@dataclass(frozen=True)
class Ran:
    status: int
    stdout: str
    stderr: str
    findings: list[dict[str, Any]]

    @property
    def named(self) -> list[tuple[str, int]]:
        return [(finding["diagnosis"], finding["place"]["line"]) for finding in self.findings]


Run = Callable[..., Ran]


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, subprocess.Popen[str]]]:
    """Processes that have imported a framework, by its name."""
    started: dict[str, subprocess.Popen[str]] = {}
    yield started
    for server in started.values():
        assert server.stdin is not None
        server.stdin.close()
        server.wait(timeout=600)


@pytest.fixture
def run(tmp_path: Path, servers: dict[str, subprocess.Popen[str]], request: pytest.FixtureRequest) -> Run:
    """Run a source text; `watched` by Sleuth or plainly, which may not fail but where it is meant to (`fails`). The
    module's FRAMEWORK names what to import before, its
    COMMAND how Sleuth is asked."""
    modules = request.module.FRAMEWORK
    command = getattr(request.module, "COMMAND", ("run", "--no-record"))
    settings = getattr(request.module, "SETTINGS", {})

    def ask(source: str, watched: bool = True, options: tuple[str, ...] = (), fails: bool = False) -> Ran:
        key = " ".join(modules)
        if key not in servers:
            servers[key] = subprocess.Popen(
                [sys.executable, str(SERVER), *modules],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=ENVIRONMENT | settings,
            )
        server = servers[key]
        assert server.stdin is not None
        assert server.stdout is not None
        (tmp_path / "train.py").write_text(source, encoding="utf-8")
        report = tmp_path / "report.json"
        report.unlink(missing_ok=True)
        job = {"folder": str(tmp_path), "program": "train.py", "options": options}
        job |= {"report": str(report), "command": command} if watched else {}
        print(json.dumps(job), file=server.stdin, flush=True)
        status = json.loads(server.stdout.readline())["status"]
        output, errors = ((tmp_path / name).read_text(errors="replace") for name in ("stdout.txt", "stderr.txt"))
        assert report.exists() == watched, errors
        assert fails or "an error inside Sleuth" not in errors, errors
        findings = json.loads(report.read_text())["findings"] if watched else []
        return Ran(status, output, errors, findings)

    return ask


@pytest.fixture
def run_alone(tmp_path: Path, request: pytest.FixtureRequest) -> Run:
    """Run a source text in a process of its own, from nothing, as a person does."""
    settings = ENVIRONMENT | getattr(request.module, "SETTINGS", {})

    def start(source: str, *command: str, environment: Mapping[str, str] = MappingProxyType({})) -> Ran:
        (tmp_path / "train.py").write_text(source, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, *command, "train.py"],
            cwd=tmp_path,
            env={**settings, **environment},
            capture_output=True,
            text=True,
            timeout=600,
        )
        return Ran(done.returncode, done.stdout, done.stderr, [])

    return start


def programs(framework: str, pattern: str) -> list[Any]:
    found = sorted((Path(__file__).parent / "programs" / framework).glob(pattern))
    return [pytest.param(Program(path), id=path.stem) for path in found]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`bug` stands for every program with a mistake in it, `healthy` for every other of the module's COLUMN (or of
    several such)."""
    column = getattr(metafunc.module, "COLUMN", None)
    if column is None:
        return
    found = [p for one in ((column,) if isinstance(column, str) else column) for p in programs(one, "*.py")]
    if "bug" in metafunc.fixturenames:
        metafunc.parametrize("bug", [p for p in found if not p.id.startswith("healthy")])
    if "healthy" in metafunc.fixturenames:
        metafunc.parametrize("healthy", [p for p in found if p.id.startswith("healthy_")])
