"""Runs programs that train with a framework, each in a forked child of a process that has imported it already.

The modules to import are the arguments. One JSON job a line on stdin, one answer on stdout. A job with a "report" is
run by Sleuth's "command", any other as plain Python does."""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

TIMEOUT = 600


def run_in_child(job: dict[str, Any]) -> None:
    folder = Path(job["folder"])
    os.chdir(folder)
    for stream, name in ((1, "stdout.txt"), (2, "stderr.txt")):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    status = 1
    try:
        if "report" in job:
            from sleuth.cli import main

            command = job["command"]
            options = ["--format", "json", "--output", job["report"], *job["options"]]
            status = main([*command, *options, job["program"]])
        else:
            sys.argv = [job["program"]]
            sys.path.insert(0, str(folder))
            runpy.run_path(job["program"], run_name="__main__")
            status = 0
    except SystemExit as error:
        status = int(error.code or 0)
    except BaseException as error:
        sys.last_value = error
        traceback.print_exc()
    finally:
        import atexit

        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def wait(child: int) -> int:
    deadline = time.monotonic() + TIMEOUT
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -signal.SIGALRM


for module in sys.argv[1:]:
    importlib.import_module(module)
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        run_in_child(json.loads(line))
    print(json.dumps({"status": wait(child)}), file=answers, flush=True)
