"""Do the fixes mend? Every change of the source that a finding in the zoo prints is made in a copy of the program,
which is then looked at again in the same way.

A fix mends where the finding is gone, no other error or warning has come, and the program does not crash where it did
not before. What is written down is taken up where it was left; `--again` begins anew."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomllib

from sleuth import editing
from sleuth.findings import Edit

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).parent / "results" / "fixes.json"
COMMANDS = {"live": "run", "source": "check", "dry": "dry"}
TIMEOUT = 600


@dataclass(frozen=True)
class Case:
    """A program of the zoo that goes wrong, and the command that is to find it."""

    folder: Path
    command: str
    diagnosis: str
    program: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.folder.relative_to(ROOT / "zoo").as_posix()


def cases() -> Iterator[Case]:
    for manifest in sorted((ROOT / "zoo").rglob("case.toml")):
        told = tomllib.loads(manifest.read_text(encoding="utf-8"))
        command = COMMANDS.get(told["engine"])
        if command is None:
            continue
        program = tuple(told.get("run", ["bug.py"] if (manifest.parent / "bug.py").exists() else ["bug"]))
        if command == "dry":
            program = (*told.get("options", []), *program)
        if command == "check":
            program = tuple(word for word in program if word != "-m")
        yield Case(manifest.parent, command, told["diagnosis"], program)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", action="append", metavar="CASE", help="cases whose name, command or diagnosis this is"
    )
    parser.add_argument("--one-each", action="store_true", help="one case of each diagnosis and command")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    rows: dict[str, Any] = {} if options.again or not RESULT.exists() else json.loads(RESULT.read_text())["cases"]
    known = {(row["command"], row["diagnosis"]) for row in rows.values()}
    for case in cases():
        chosen = not options.only or {case.name, case.command, case.diagnosis} & set(options.only)
        if not chosen or (case.name in rows and not options.only) or (options.one_each and _kind(case) in known):
            continue
        rows[case.name] = row(case)
        known.add(_kind(case))
        write(rows)
        print(case.name, json.dumps(rows[case.name]["fixes"]), flush=True)


def _kind(case: Case) -> tuple[str, str]:
    return case.command, case.diagnosis


def row(case: Case) -> dict[str, Any]:
    before = looked_at(case, [])
    fixes = []
    for finding in before["findings"]:
        for fix in finding["fixes"]:
            told = {"diagnosis": finding["diagnosis"], "fix": fix["title"], "verified": fix["verified"]}
            if fix["edits"]:
                told |= mended(case, before, finding, fix)
            fixes.append(told)
    return {"command": case.command, "diagnosis": case.diagnosis, "fixes": fixes}


def mended(case: Case, before: dict[str, Any], finding: dict[str, Any], fix: dict[str, Any]) -> dict[str, Any]:
    after = looked_at(case, fix["edits"])
    came = Counter(map(_alarm, after["findings"])) - Counter(map(_alarm, before["findings"]))
    left = Counter(map(_alarm, before["findings"])) - Counter(map(_alarm, after["findings"]))
    crashed = after["status"] > before["status"]
    why = [*(f"then: {name}" for name, severity in came if severity != "note"), *(["it crashes"] if crashed else [])]
    if not left[_alarm(finding)]:
        why.append("the finding is still there")
    return {"mends": not why, "why": why}


def _alarm(finding: dict[str, Any]) -> tuple[str, str]:
    return finding["diagnosis"], finding["severity"]


def looked_at(case: Case, edits: list[dict[str, Any]]) -> dict[str, Any]:
    """What the command says of the program, in a copy that has these edits made."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "case"
        shutil.copytree(case.folder, folder, ignore=shutil.ignore_patterns("__pycache__", "healthy*"))
        for path in {edit["path"] for edit in edits}:
            file = folder / path
            text = editing.apply(file.read_text(), [Edit(**edit) for edit in edits if edit["path"] == path])
            assert text is not None, edits
            file.write_text(text)
        report = Path(place) / "report.json"
        words = [sys.executable, "-m", "sleuth", case.command, "--format", "json", "--output", str(report)]
        done = subprocess.run(
            [*words, *(["--no-record"] if case.command == "run" else []), *case.program],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"},
            capture_output=True,
            timeout=TIMEOUT,
        )
        findings = json.loads(report.read_text())["findings"] if report.exists() else []
        return {"findings": findings, "status": done.returncode}


def write(rows: dict[str, Any]) -> None:
    result = {"what": " ".join((__doc__ or "").split()), "counts": counts(rows), "cases": dict(sorted(rows.items()))}
    RESULT.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    RESULT.with_suffix(".md").write_text(page(rows))


def counts(rows: dict[str, Any]) -> dict[str, dict[str, int]]:
    counted: dict[str, Counter[str]] = {}
    for one in rows.values():
        here = counted.setdefault(one["command"], Counter())
        here["cases"] += 1
        for fix in one["fixes"]:
            here["fixes"] += 1
            here["verified"] += fix["verified"]
            if "mends" in fix:
                here["changes of the source"] += 1
                here["that mend"] += fix["mends"]
                here["verified changes"] += fix["verified"]
                here["verified changes that do not mend"] += fix["verified"] and not fix["mends"]
    return {command: dict(sorted(here.items())) for command, here in sorted(counted.items())}


_COLUMNS = (
    "cases",
    "fixes",
    "changes of the source",
    "that mend",
    "verified changes",
    "verified changes that do not mend",
)


def page(rows: dict[str, Any]) -> str:
    lines = ["# Do the fixes mend?", "", " ".join((__doc__ or "").split()), ""]
    lines += [f"| command | {' | '.join(_COLUMNS)} |", f"|---|{'---|' * len(_COLUMNS)}"]
    for command, here in counts(rows).items():
        lines.append(f"| {command} | {' | '.join(str(here.get(column, 0)) for column in _COLUMNS)} |")
    lines += [
        "",
        "All other fixes are sentences; they say that they were not tried, or by which experiment they were.",
        "",
    ]
    lines += ["## Changes that do not mend", "", "| case | diagnosis | fix | verified | why |", "|---|---|---|---|---|"]
    for name, one in sorted(rows.items()):
        for fix in one["fixes"]:
            if fix.get("mends") is False:
                said = "yes" if fix["verified"] else "no"
                lines.append(f"| {name} | {fix['diagnosis']} | {fix['fix']} | {said} | {'; '.join(fix['why'])} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
