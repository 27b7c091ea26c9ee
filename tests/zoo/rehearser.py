"""Runs zoo programs, plainly or under `sleuth dry`. torch is imported once; each program then runs in a forked child.

One JSON job a line on stdin, one answer on stdout. A program runs in a copy of its folder: a plain run may write there.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from sleuth.cli import main
from sleuth.dry import rehearsal

TIMEOUT = 120


def plainly(program: str) -> int:
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def perform(job: dict[str, Any], scratch: Path) -> int:
    for name, stream in (("stdout", 1), ("stderr", 2)):
        os.dup2(os.open(scratch / name, os.O_WRONLY | os.O_CREAT), stream)
    os.chdir(shutil.copytree(job["folder"], scratch / "case"))
    if job["dry"] is None:
        return plainly(job["program"])
    return main(["dry", "--format", "json", "--output", str(scratch / "report"), *job["dry"], job["program"]])


def answer(job: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        child = os.fork()
        if child == 0:
            status = 70
            try:
                signal.alarm(TIMEOUT)
                status = perform(job, scratch)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        report = scratch / "report"
        return {
            "status": status,
            "findings": json.loads(report.read_text(encoding="utf-8"))["findings"] if report.exists() else None,
            "stderr": (scratch / "stderr").read_text(encoding="utf-8"),
            "left": sorted(path.name for path in (scratch / "case").iterdir()),
        }


if __name__ == "__main__":
    rehearsal.prepare()
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
