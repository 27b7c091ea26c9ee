"""Runs zoo programs under `sleuth run`. A program that starts processes of its own gets a fresh interpreter."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from forked import serve

from sleuth.cli import main


def perform(job: dict[str, Any], scratch: Path) -> int:
    os.chdir(job["folder"])
    command = ["run", "--no-record", "--format", "json", "--output", str(scratch / "report"), *job["run"]]
    if job["forks"]:
        os.execv(sys.executable, [sys.executable, "-m", "sleuth", *command])
    return main(command)


if __name__ == "__main__":
    # With torch comes what the first optimiser would import in every child.
    importlib.import_module("torch._dynamo")
    serve(perform)
