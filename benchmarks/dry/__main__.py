"""Rehearses training scripts that nobody here wrote: how far each gets, what is found, and that nothing is left behind.

`python benchmarks/dry [--mirrors FOLDER] [--only WORD]` fetches the repositories of `scripts.toml` once, rehearses each
script in a copy of its folder, and writes `results/dry_scripts.json` and `.md`."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dry.repositories import fetched, pinned

HERE = Path(__file__).resolve().parent
RESULT = HERE.parent / "results" / "dry_scripts.json"
# Seven rehearsals at the most, of a minute each.
LIMIT = 600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirrors", type=Path, metavar="FOLDER", help="bare repositories, owner+name/repo")
    parser.add_argument("--only", metavar="WORD", help="only scripts whose path has this in it; writes no result")
    options = parser.parse_args()
    rows = []
    for repository in pinned(HERE / "scripts.toml"):
        folder = fetched(repository["name"], repository["commit"], options.mirrors)
        for script in repository["scripts"]:
            if options.only is None or options.only in f"{repository['name']}/{script['path']}":
                rows.append(row := rehearsed(folder, repository["name"], script))
                print(line(row), flush=True)
                if options.only is None:
                    RESULT.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
                    RESULT.with_suffix(".md").write_text(table(rows), encoding="utf-8")


def rehearsed(repository: Path, name: str, script: dict[str, Any]) -> dict[str, Any]:
    """One script under `sleuth dry`, corners included, in a copy of its folder."""
    source = repository / script["path"]
    with tempfile.TemporaryDirectory() as copy:
        folder = Path(copy) / source.parent.name
        shutil.copytree(source.parent, folder)
        before = fingerprint(folder)
        paths = [str(HERE / "fakes" / fake) for fake in script.get("fakes", ())]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "KERAS_BACKEND": script.get("backend", "torch"),
            "OMP_NUM_THREADS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [sys.executable, "-m", "sleuth", "dry", "--format", "json", *script.get("options", ())]
        began = time.monotonic()
        done = subprocess.run(
            [*command, source.name, *script.get("arguments", ())],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        seconds = time.monotonic() - began
        unchanged = fingerprint(folder) == before
    findings = json.loads(done.stdout)["findings"] if done.stdout.strip().startswith("{") else []
    told = [one for one in done.stderr.splitlines() if one.startswith("sleuth: rehearsed") or "failed" in one]
    right = set(script.get("true", ()))
    return {
        "project": name,
        "script": script["path"],
        "options": script.get("options", []),
        "arguments": script.get("arguments", []),
        "backend": script.get("backend", ""),
        "told": told,
        "findings": [f"{f['diagnosis']} ({f['severity']}): {f['title']}" for f in findings],
        "false": [f["diagnosis"] for f in findings if f["diagnosis"] not in right],
        "status": done.returncode,
        "seconds": round(seconds, 1),
        "folder unchanged": unchanged,
    }


def fingerprint(folder: Path) -> str:
    """Names and contents of everything in it."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(str(path.relative_to(folder)).encode())
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def line(row: dict[str, Any]) -> str:
    how = "; ".join(row["told"]).removeprefix("sleuth: ")
    found = "; ".join(row["findings"]) or "nothing found"
    left = "" if row["folder unchanged"] else " FOLDER CHANGED"
    return f"{row['project']} {row['script']} [{row['seconds']} s] {how} | {found}{left}"


def table(rows: list[dict[str, Any]]) -> str:
    false = sum(len(row["false"]) for row in rows)
    ended = sum(any("to its end" in one for one in row["told"]) for row in rows)
    changed = sum(not row["folder unchanged"] for row in rows)
    lines = [
        "# Rehearsals of scripts nobody here wrote",
        "",
        f"{len(rows)} rehearsals: {ended} to their end, {false} false findings, {changed} folders changed.",
        "",
        "| project | script | how | found | seconds |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        how = "; ".join(row["told"]).removeprefix("sleuth: ").partition(";")[0]
        script = " ".join([*row["options"], row["script"], *row["arguments"], row["backend"]]).strip()
        found = "; ".join(row["findings"]) or "nothing"
        lines.append(f"| {row['project']} | {script} | {how} | {found} | {row['seconds']} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
