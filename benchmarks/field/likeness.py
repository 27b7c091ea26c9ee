"""Whether two runs of a program came to the same: what they printed, the files they left, the curves they logged."""

from __future__ import annotations

import difflib
import hashlib
import re
from pathlib import Path
from typing import Any

# What differs between two runs of the same program: moments, durations, speeds and addresses. In this order.
PASSING = [
    (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d([.,]\d+)?", "<moment>"),
    (r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d", "<moment>"),
    (r"\b[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_[\w.-]+", "<moment>"),
    (r"\d+:\d\d:\d\d(\.\d+)?", "<duration>"),
    (r"\[[\d:?]+<[\d:?]+,[^\],]*(, )?", "[<duration> "),
    (r"\b\d+(\.\d+)?(e-?\d+)?\s?(ms|us|µs|s|min)(/\w+)?\b", "<duration>"),
    (r"\b\d+(\.\d+)?\s?(it|steps|samples|examples)/s\b", "<speed>"),
    (r"(runtime|_per_second|mfu|SPS:?)(['\"]?\s*[=:]?\s*)['\"]?[-\d.]+%?['\"]?", r"\1\2<speed>"),
    (r"\b0x[0-9a-f]{6,}\b", "<address>"),
]
# A bar that is drawn as time allows: Keras' and tqdm's. Only its full state says something of the run.
COUNT = re.compile(r"(\d+)/(\d+)\b")
DRAWN = re.compile(r"[━█▏▎▍▌▋▊▉]|\d+%\|")


def lasting(printed: str) -> list[str]:
    """The lines without what time alone decides, and without the spaces that depend on its width."""
    lines: list[str] = []
    bar = None
    for line in re.split(r"[\r\n\x08]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed)):
        drawn = DRAWN.search(line)
        if drawn and any(done != all_of_it for done, all_of_it in COUNT.findall(line)):
            continue
        head = line[: drawn.start()] if drawn else None
        for pattern, name in PASSING:
            line = re.sub(pattern, name, line)
        line = " ".join(line.split())
        if not line or (lines and lines[-1] == line):
            continue
        if head is not None and head == bar:
            lines.pop()
        bar = head
        lines.append(line)
    return lines


def difference(first: str, second: str) -> list[str]:
    """The first lines in which two runs' prints differ; none when they are the same."""
    told = difflib.unified_diff(lasting(first), lasting(second), "plain", "watched", lineterm="", n=0)
    return [line for line in told if not line.startswith(("---", "+++", "@@"))][:6]


def marks(folder: Path, patterns: list[str]) -> dict[str, str]:
    """A digest of each file that one of the patterns names."""
    files = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def curves(folder: Path) -> list[tuple[str, int, Any]]:
    """Every value in the folder's event files but speeds."""
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util.tensor_util import make_ndarray

    found = []
    for path in sorted(folder.rglob("*tfevents*")):
        for event in EventFileLoader(str(path)).Load():
            for value in event.summary.value:
                if not re.search(r"SPS|per_sec|time", value.tag):
                    number = make_ndarray(value.tensor) if value.HasField("tensor") else value.simple_value
                    found.append((value.tag, event.step, str(number)))
    return sorted(found)
