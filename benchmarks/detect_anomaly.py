"""Who names the line that made the NaN: `torch.autograd.detect_anomaly` beside `sleuth run`, on every live zoo bug.

A line counts as named when it is the manifest's. detect_anomaly's line is the innermost one in the case's own files of
its "Traceback of forward call that caused the error", or of its error where it gives no such traceback.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
ZOO = ROOT / "zoo"
RESULT = Path(__file__).parent / "results" / "detect_anomaly.json"
TIMEOUT = 120
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": str(ROOT / "src"),
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONWARNINGS": "default",  # the forward traceback comes as a warning
}
# Anomaly mode is on before the program starts, as if its first line had switched it on.
UNDER_ANOMALY = """
import os, runpy, sys
import torch
torch.autograd.set_detect_anomaly(True)
sys.argv = sys.argv[1:]
sys.path.insert(0, os.getcwd())
if sys.argv[0] == "-m":
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
else:
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
FRAME = re.compile(r'^\s*File "(?P<path>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
BLAME = re.compile(r"Function '(?P<function>\w+)' returned nan values")
FORWARD = "Traceback of forward call that caused the error"
ERROR = "Traceback (most recent call last)"


@dataclass(frozen=True)
class Case:
    name: str
    folder: Path
    run: tuple[str, ...]
    diagnosis: str
    place: str


@dataclass(frozen=True)
class Answer:
    """What a tool said: the place it named, if any, and its words."""

    place: str | None
    said: str


def cases() -> list[Case]:
    found = []
    for path in sorted(ZOO.glob("*/case.toml")):
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        if manifest["engine"] == "live" and "step" in manifest:
            place = f"{manifest.get('file', 'bug.py')}:{manifest['line']}"
            run = tuple(manifest.get("run", ["bug.py"]))
            found.append(Case(path.parent.name, path.parent, run, manifest["diagnosis"], place))
    return found


def finished(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, timeout=TIMEOUT, capture_output=True, text=True)


def own_place(text: str, folder: Path) -> str | None:
    """The innermost frame of a traceback that lies in the case's own files."""
    for frame in reversed(list(FRAME.finditer(text))):
        path = (folder / frame["path"]).resolve()
        if path.is_file() and path.is_relative_to(folder):
            return f"{path.relative_to(folder).as_posix()}:{frame['line']}"
    return None


def detect_anomaly(case: Case) -> Answer:
    stderr = finished([sys.executable, "-c", UNDER_ANOMALY, *case.run], case.folder).stderr
    blame = BLAME.search(stderr)
    if blame is None:
        return Answer(None, "nothing")
    before, _, error = stderr.rpartition(ERROR)
    _, _, forward = before.rpartition(FORWARD)
    return Answer(own_place(forward, case.folder) or own_place(error, case.folder), blame["function"])


def sleuth(case: Case) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "sleuth", "run", "--no-record", "--format", "json", "--output", str(report)]
        stderr = finished([*command, *case.run], case.folder).stderr
        if not report.exists():
            return Answer(None, (stderr.strip().splitlines() or ["nothing"])[-1])
        findings: list[dict[str, Any]] = json.loads(report.read_text(encoding="utf-8"))["findings"]
    errors = [finding for finding in findings if finding["severity"] == "error"]
    if not errors:
        return Answer(None, "nothing")
    place = errors[0].get("place") or {}
    return Answer(f"{place['path']}:{place['line']}" if place else None, errors[0]["diagnosis"])


def shown(answer: dict[str, Any]) -> str:
    return f"{'**yes**' if answer['true_line'] else 'no'}: {answer['said']}, {answer['place'] or 'no line'}"


def judged(answer: Answer, case: Case) -> dict[str, Any]:
    return {"said": answer.said, "place": answer.place, "true_line": answer.place == case.place}


def main() -> None:
    tools = {"detect_anomaly": detect_anomaly, "sleuth": sleuth}
    rows: list[dict[str, Any]] = []
    print("| case | diagnosis | line | detect_anomaly | sleuth |\n|---|---|---|---|---|")
    for case in cases():
        row: dict[str, Any] = {"case": case.name, "diagnosis": case.diagnosis, "place": case.place}
        row |= {name: judged(ask(case), case) for name, ask in tools.items()}
        rows.append(row)
        answers = " | ".join(shown(row[name]) for name in tools)
        print(f"| {case.name} | {case.diagnosis} | {case.place} | {answers} |", flush=True)
    totals = {name: sum(row[name]["true_line"] for row in rows) for name in tools}
    print(f"\nThe true line, of {len(rows)}: " + ", ".join(f"{name} {count}" for name, count in totals.items()))
    versions = {"python": platform.python_version(), "torch": metadata.version("torch")}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({**versions, "cases": len(rows), "true_line": totals, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
