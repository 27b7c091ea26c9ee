"""Sleuth in each environment of a cover of Pythons, torches and their builds: `make test-versions`.

    python benchmarks/versions [--only WORD] [--again] [--sample N | --all] [--in FOLDER] [--with PYTHON]

One environment at a time is built in a folder of its own, tried and removed: up to eight gigabytes, and a quarter of an
hour each. What was tried before is not tried again (unless `--again`), so a run that was stopped goes on. `--with`
tries an interpreter that brings its own torch. Results go to `results/versions.json` and `.md`."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from versions import trial
from versions.environments import COVER, ROOT, CannotBuild, Environment

RESULT = ROOT / "benchmarks" / "results" / "versions.json"
SAMPLE = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="WORD", help="only environments whose name has this in it, e.g. torch2.6")
    parser.add_argument("--again", action="store_true", help="also those that were tried before")
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help=f"cases of each kind ({SAMPLE})")
    parser.add_argument("--all", action="store_true", help="all cases of the zoo")
    parser.add_argument("--in", dest="folder", type=Path, help="where environments are built (the temporary folder)")
    parser.add_argument("--with", dest="ready", metavar="PYTHON", help="try this interpreter and its torch")
    options = parser.parse_args()
    cover = [Environment(options.ready, "", "ready")] if options.ready else COVER
    for environment in cover:
        if options.only is not None and options.only not in environment.name:
            continue
        if options.again or options.ready or not any(environment.is_row(row) for row in results().values()):
            note(environment, options.folder, None if options.all else options.sample)


def note(environment: Environment, where: Path | None, sample: int | None) -> None:
    """Try one environment and write the row down."""
    print(f"{environment.name}: building ...", flush=True)
    with tempfile.TemporaryDirectory(prefix="sleuth-versions-", dir=where) as folder:
        try:
            python = environment.built(Path(folder) / "environment")
        except CannotBuild as reason:
            print(f"  left out: {reason}", flush=True)
            return
        row = trial.tried(python, sample)
    name = f"Python {row['python']}, torch {row['torch']}, {row['build']}"
    rows = results() | {name: {**row, "sleuth": _commit()}}
    RESULT.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    RESULT.with_suffix(".md").write_text(table(list(rows.values())), encoding="utf-8")


def results() -> dict[str, dict[str, Any]]:
    if not RESULT.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(RESULT.read_text(encoding="utf-8"))
    return found


def table(rows: list[dict[str, Any]]) -> str:
    rows = sorted(rows, key=lambda row: (_numbers(row["torch"]), _numbers(row["python"]), row["build"]))
    columns = list(rows[-1]["scores"])
    lines = [
        "# Sleuth on other Pythons and torches",
        "",
        "By `make test-versions`. A bug counts as found if it is named at its line, a healthy program as silent",
        "if nothing is said of it and it ends well. Oracles and compare: tests that passed.",
        "",
        "| " + " | ".join(["Python", "torch", "build", *columns]) + " |",
        "|" + "---|" * (len(columns) + 3),
    ]
    for row in rows:
        told = [row["python"], row["torch"], row["build"], *(row["scores"].get(name, "") for name in columns)]
        lines.append("| " + " | ".join(told) + " |")
    lines += ["", "## What did not go as it should", ""]
    wrong = []
    for row in rows:
        wrong += [f"- Python {row['python']}, torch {row['torch']}, {row['build']}: {one}" for one in row["wrong"]]
    return "\n".join([*lines, *(wrong or ["Nothing."])]) + "\n"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _commit() -> str:
    if shutil.which("git") is None:
        return ""
    asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    return asked.stdout.strip()


if __name__ == "__main__":
    main()
