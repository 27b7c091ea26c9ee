"""Runs programs under one rival, in that rival's environment. A server: torch is loaded once, each program is a fork.

Reads a job a line, `{"run": [...], "folder": ..., "seconds": ...}`, and answers a line: the Answer."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import re
import resource
import runpy
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType

import torch
from adapters import Monitor
from feed import Feed, Watched
from messages import Answer, Collector, Message

MEMORY = 6 * 2**30
GRACE = 20  # seconds for what the rival does at the end
TELLING = re.compile("softmax|sigmoid|relu|dropout|norm|loss|log", re.IGNORECASE)


class TimeUp(BaseException):
    """The program has run for as long as it may."""


def time_up(number: int, frame: FrameType | None) -> None:
    raise TimeUp


def run_program(arguments: Sequence[str]) -> None:
    sys.path[0] = os.getcwd()
    if arguments[0] == "-m":
        sys.argv = list(arguments[1:])
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(arguments)
        runpy.run_path(arguments[0], run_name="__main__")


def summary(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:300]


def masker(one: Watched) -> Callable[[Message], Message]:
    """Hides the names of layers that would pass for a cause: an alarm on `self.softmax` does not blame the softmax."""
    names = [re.escape(name) for name in one.names if TELLING.search(name)]
    if not names:
        return lambda message: message
    pattern = re.compile(rf"(?<![\w.])(?:{'|'.join(sorted(names, key=len, reverse=True))})(?![\w.])")
    return lambda message: replace(
        message, title=pattern.sub("a layer", message.title), text=pattern.sub("a layer", message.text)
    )


def watched(make: type[Monitor], arguments: Sequence[str], seconds: float) -> Answer:
    started = time.monotonic()
    feed = Feed(make)
    ended, trouble = "done", None
    signal.signal(signal.SIGALRM, time_up)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        with feed.installed():
            run_program(arguments)
    except TimeUp:
        ended = f"stopped after {seconds:g} s"
    except SystemExit as stop:
        ended = "done" if stop.code in (None, 0) else f"SystemExit: {stop.code}"
    except BaseException as error:
        ended = summary(error)
        traceback.print_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    collector = Collector()
    for one in feed.watched:
        try:
            collector.add(map(masker(one), one.monitor.finish(ended == "done")))
        except Exception as error:
            trouble = f"its report failed: {summary(error)}"
            traceback.print_exc()
    return Answer(ended, feed.steps, round(time.monotonic() - started, 2), collector.messages, trouble)


def child(make: type[Monitor], job: dict[str, object], output: int) -> None:
    """Never returns."""
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no child outlives the server
        os.setsid()
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        with open(os.devnull) as nothing, tempfile.TemporaryFile() as sink:
            os.dup2(nothing.fileno(), 0)
            for number in (1, 2):
                os.dup2(sink.fileno(), number)
            os.chdir(str(job["folder"]))
            answer = watched(make, list(job["run"]), float(str(job["seconds"])))  # type: ignore[call-overload]
        data = json.dumps(answer.to_json()).encode()
        while data:
            data = data[os.write(output, data) :]
    finally:
        os._exit(0)


def forked(make: type[Monitor], job: dict[str, object]) -> Answer:
    reader, writer = os.pipe()
    number = os.fork()
    if number == 0:
        os.close(reader)
        child(make, job, writer)
    os.close(writer)
    deadline = time.monotonic() + float(str(job["seconds"])) + GRACE
    data = b""
    while (left := deadline - time.monotonic()) > 0:
        if select.select([reader], [], [], left)[0]:
            piece = os.read(reader, 65536)
            if not piece:
                break
            data += piece
    os.close(reader)
    with suppress(ProcessLookupError):
        os.killpg(number, signal.SIGKILL)  # and what the program started
    _, status = os.waitpid(number, 0)
    if not data:
        return Answer("stopped", trouble=f"no answer, process ended with status {status}")
    return Answer.from_json(json.loads(data))


class Nothing(Monitor):
    """Watches nothing: the program alone."""

    def finish(self, complete: bool) -> list[object]:  # type: ignore[override]
        return []


def main() -> None:
    name = sys.argv[1]
    torch.set_num_threads(1)
    make = Nothing if name == "bare" else importlib.import_module(f"adapters.{name.replace('-', '_')}").Monitor
    # A rival's imports are part of the start, not of the first program.
    if name != "bare":
        importlib.import_module(name.replace("-", "_"))
    here = str(Path(__file__).parent)
    sys.path[:] = ["", *(path for path in sys.path if path not in (here, ""))]
    for line in sys.stdin:
        print(json.dumps(forked(make, json.loads(line)).to_json()), flush=True)


if __name__ == "__main__":
    main()
