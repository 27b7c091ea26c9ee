"""Performs jobs, each in a forked child of a process that has imported what is slow to import.

One JSON job a line on stdin, one answer on stdout."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Only against a program that never ends: on a busy machine the slowest takes minutes.
TIMEOUT = 600


def serve(perform: Callable[[dict[str, Any], Path], int]) -> None:
    """`perform` gets a job and a folder of its own; it gives the exit status, and may leave a `report` there."""
    for line in sys.stdin:
        print(json.dumps(_answer(perform, json.loads(line))), flush=True)


def _answer(perform: Callable[[dict[str, Any], Path], int], job: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        child = os.fork()
        if child == 0:
            status = 70
            try:
                signal.alarm(TIMEOUT)
                for output, stream in (("stdout", 1), ("stderr", 2)):
                    os.dup2(os.open(scratch / output, os.O_WRONLY | os.O_CREAT), stream)
                status = perform(job, scratch)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        report, case = scratch / "report", scratch / "case"
        return {
            "status": status,
            "stdout": (scratch / "stdout").read_text(encoding="utf-8"),
            "stderr": (scratch / "stderr").read_text(encoding="utf-8"),
            "findings": json.loads(report.read_text(encoding="utf-8"))["findings"] if report.exists() else None,
            "left": sorted(path.name for path in case.iterdir()) if case.exists() else None,
        }
