"""How fast `sleuth check` reads, beside a bare `ast.parse`, ruff, TorchFix and pylint: lines a second of CPU time.

All read the source of transformers, without torch installed: the quick ones all of it, the slow ones a fixed sample of
its files, which the quick ones read as well. What counts is the CPU time of all processes of a command, their start
included. The rounds are interleaved and shuffled, so that whatever else the machine does falls on all alike."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from precision.corpora import Corpus, corpora, ready

HERE = Path(__file__).parent
RESULT = HERE / "results" / "speed.json"
CACHE = HERE / ".cache"
RIVALS = ["TorchFix==0.7.0", "pylint==4.1.3", "ruff==0.17.4"]
BIN = CACHE / "env" / "bin"
SLEUTH = str(Path(sys.executable).with_name("sleuth"))
PARSER = "ast.parse"
COLD, WARM = "sleuth, one core, no cache", "sleuth, one core, nothing changed"
TORCHFIX = "TorchFix 0.7.0"
# So that the slowest takes about a minute a round.
SAMPLE_LINES = 25_000
LIMITS = {"times as fast as TorchFix": 10.0, "times the work of ast.parse": 4.0}
PARSE_ALL = """
import ast, sys, tokenize
for path in sys.stdin.read().splitlines():
    with tokenize.open(path) as file:
        ast.parse(file.read())
"""
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith("SLEUTH")},
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Code:
    """A folder of Python files."""

    folder: Path
    files: tuple[Path, ...]
    lines: int


@dataclass(frozen=True)
class Tool:
    """A command that reads all files of a folder; `given` goes to its standard input."""

    name: str
    command: list[str]
    slow: bool = False
    given: str | None = None


def code_in(folder: Path) -> Code:
    files = tuple(sorted(folder.rglob("*.py")))
    return Code(folder, files, sum(path.read_bytes().count(b"\n") for path in files))


def sampled(whole: Code) -> Code:
    """Some of the files in a folder of their own, always the same ones."""
    folder = CACHE / "sample"
    shutil.rmtree(folder, ignore_errors=True)
    # With a .git of its own it is a project, whatever the settings of the folders above say.
    (folder / ".git").mkdir(parents=True)
    lines = 0
    for path in sorted(
        whole.files, key=lambda path: hashlib.sha256(str(path.relative_to(whole.folder)).encode()).digest()
    ):
        if lines >= SAMPLE_LINES:
            break
        target = folder / path.relative_to(whole.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        lines += path.read_bytes().count(b"\n")
    return code_in(folder)


def set_up_rivals() -> None:
    """Installs the rivals in an environment of their own, unless that was done before."""
    CACHE.mkdir(exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n", encoding="utf-8")
    ready = CACHE / "env.ready"
    if ready.exists() and ready.read_text(encoding="utf-8").split() == RIVALS:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(BIN.parent)], check=True)
    subprocess.run(
        [str(BIN / "python"), "-m", "pip", "install", "--quiet", *RIVALS], check=True, stderr=subprocess.DEVNULL
    )
    ready.write_text("\n".join(RIVALS) + "\n", encoding="utf-8")


def tools(code: Code) -> list[Tool]:
    names = "\n".join(map(str, code.files))
    quiet = ["--format", "json", "--output", os.devnull]
    return [
        Tool(PARSER, [sys.executable, "-c", PARSE_ALL], given=names),
        Tool(COLD, [SLEUTH, "check", "--jobs", "1", "--no-cache", *quiet, "."]),
        Tool(WARM, [SLEUTH, "check", "--jobs", "1", *quiet, "."]),
        Tool(
            "ruff 0.17.4 (B, F, NPY)", [str(BIN / "ruff"), "check", "--isolated", "--no-cache", "--select=B,F,NPY", "."]
        ),
        Tool(TORCHFIX, [str(BIN / "torchfix"), "--select", "ALL", "."], slow=True),
        Tool("pylint 4.1.3 -E", [str(BIN / "pylint"), "-E", "--jobs=1", *map(str, code.files)], slow=True),
    ]


def processor_time(tool: Tool, folder: Path) -> float:
    """Seconds of user and system time of a command and all its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(tool.command, cwd=folder, input=tool.given, capture_output=True, text=True, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # They end with 1 where they found something; pylint with a sum of powers of two, of which 32 means bad usage.
    if done.returncode not in (0, 1) and not (tool.name.startswith("pylint") and done.returncode < 32):
        raise RuntimeError(f"{tool.name} ended with status {done.returncode}: {done.stderr[-2000:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(code: Code, rounds: int, slow: bool) -> dict[str, list[float]]:
    chosen = [tool for tool in tools(code) if slow or not tool.slow]
    times: dict[str, list[float]] = {tool.name: [] for tool in chosen}
    shutil.rmtree(code.folder / ".sleuth", ignore_errors=True)
    # This round compiles what is installed and fills the cache.
    processor_time(next(tool for tool in chosen if tool.name == WARM), code.folder)
    for _ in range(rounds):
        random.shuffle(chosen)
        for tool in chosen:
            times[tool.name].append(processor_time(tool, code.folder))
    return times


def summary(code: Code, times: dict[str, list[float]]) -> dict[str, Any]:
    """Each tool's speed, and the median over the rounds of its time over that of `ast.parse` in the same round."""
    return {
        "files": len(code.files),
        "lines": code.lines,
        "rounds": len(times[PARSER]),
        "tools": {
            name: {
                "seconds": round(statistics.median(own), 2),
                "lines_per_second": round(code.lines / statistics.median(own)),
                f"times {PARSER}": round(statistics.median(a / b for a, b in zip(own, times[PARSER], strict=True)), 2),
            }
            for name, own in times.items()
        },
    }


def verdict(whole: dict[str, Any], sample: dict[str, Any]) -> dict[str, float]:
    speeds = {name: row["lines_per_second"] for name, row in sample["tools"].items()}
    return {
        "times as fast as TorchFix": round(speeds[COLD] / speeds[TORCHFIX], 1),
        "times the work of ast.parse": whole["tools"][COLD][f"times {PARSER}"],
    }


def markdown(measured: dict[str, dict[str, Any]]) -> str:
    lines = []
    for name, part in measured.items():
        lines += [f"{name}: {part['files']} files, {part['lines']:,} lines, {part['rounds']} rounds", ""]
        lines += [f"| tool | CPU time, s | lines/s | times {PARSER} |", "|---|---:|---:|---:|"]
        for tool, row in part["tools"].items():
            ratio = row[f"times {PARSER}"]
            lines.append(f"| {tool} | {row['seconds']:.2f} | {row['lines_per_second']:,} | {ratio:.2f} |")
        lines.append("")
    return "\n".join(lines)


def transformers() -> Corpus:
    return next(corpus for corpus in corpora() if corpus.name == "transformers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    set_up_rivals()
    corpus = transformers()
    whole = code_in(ready(corpus))
    sample = sampled(whole)
    measured = {
        "all of it": summary(whole, measure(whole, rounds, slow=False)),
        "the sample": summary(sample, measure(sample, rounds, slow=True)),
    }
    print(markdown(measured))
    result = verdict(measured["all of it"], measured["the sample"])
    for name, value in result.items():
        print(f"sleuth, one core, no cache: {value} {name} (the limit is {LIMITS[name]:g})")
    facts = {"python": platform.python_version(), "source": f"{corpus.name} {corpus.version}", "limits": LIMITS}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"about": facts, "result": result, **measured}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
