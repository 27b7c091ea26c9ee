"""Sleuth: `sleuth run`, as in its README."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import processes
from messages import Answer, Message
from programs import Program


def answer(program: Program, seconds: float) -> Answer:
    started = time.monotonic()
    with program.copied() as folder:
        report = folder / "sleuth-report.json"
        command = [sys.executable, "-m", "sleuth", "run", "--no-record", "--format", "json", "--output", str(report)]
        source = str(Path(__file__).parents[3] / "src")
        ended = processes.run([*command, *program.run], folder, seconds, {"PYTHONPATH": source})
        took = round(time.monotonic() - started, 2)
        if not report.exists():
            how = "no report" if ended.status is not None else f"stopped after {seconds:g} s"
            return Answer(how, seconds=took, trouble=None if ended.status is None else ended.last_line)
        findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    messages = (Message(finding["severity"], finding["diagnosis"], finding["title"]) for finding in findings)
    return Answer("done", seconds=took, messages=tuple(messages))
