"""Runs zoo programs, plainly or under `sleuth dry`, each in a copy of its folder: a plain run may write there."""

from __future__ import annotations

import os
import runpy
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

from forked import serve

from sleuth.cli import main
from sleuth.dry import rehearsal


def plainly(program: str) -> int:
    sys.argv = [program]
    try:
        runpy.run_path(program, run_name="__main__")
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def perform(job: dict[str, Any], scratch: Path) -> int:
    os.chdir(shutil.copytree(job["folder"], scratch / "case"))
    if job["dry"] is None:
        return plainly(job["program"])
    return main(["dry", "--format", "json", "--output", str(scratch / "report"), *job["dry"], job["program"]])


if __name__ == "__main__":
    rehearsal.prepare()
    serve(perform)
