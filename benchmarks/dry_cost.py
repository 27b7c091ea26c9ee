"""What a rehearsal costs against one real step on this CPU, and how near its memory estimate comes to a real run's.

Two programs, of the size of ResNet-50 and of GPT-2 small, are rehearsed on a pretended card of 24 GB. A step's cost is
the difference between rehearsals of few and of many steps; all times are CPU seconds of the processes, interleaved.
Memory: the peak that a rehearsal with fake tensors tells of small versions of the programs, against the peak of the CPU
allocator in a real run of two steps, as torch's own profiler recorded it."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from sleuth.dry.rehearsal import hold
from sleuth.dry.scenario import Scenario

HERE = Path(__file__).parent
PROGRAMS = HERE / "dry" / "programs"
RESULT = HERE / "results" / "dry_cost.json"
FEW, MANY = 2, 8
SMALL = {
    "resnet50": [
        ["--batch-size", "4", "--image", "64"],
        ["--batch-size", "8", "--image", "96", "--width", "32"],
        ["--batch-size", "2", "--image", "128"],
    ],
    "gpt2_small": [
        ["--batch-size", "2", "--context", "128", "--layers", "2", "--vocabulary", "5000"],
        ["--batch-size", "1", "--context", "256", "--layers", "4", "--width", "256", "--vocabulary", "10000"],
        ["--batch-size", "4", "--context", "64", "--layers", "3", "--width", "384", "--vocabulary", "2000"],
    ],
}
# The real step: of GPT-2 one sample of the eight, times eight.
PARTS: dict[str, tuple[list[str], int]] = {"resnet50": ([], 1), "gpt2_small": (["--batch-size", "1"], 8)}
# Allocations of the CPU in a real run, as the profiler saw them; run as a program of its own.
ALLOCATED = """
import json, runpy, sys
import torch
from torch.profiler import ProfilerActivity, profile
program, sys.argv = sys.argv[1], sys.argv[1:]
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit:
        pass
now = peak = 0
for event in sorted(seen.profiler.kineto_results.events(), key=lambda e: e.start_ns()):
    if event.name() == "[memory]":
        now += event.nbytes()
        peak = max(peak, now)
print(json.dumps(peak))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", action="store_true", help="also take one real step of each: minutes")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    torch.set_num_threads(1)
    result: dict[str, Any] = {
        "what": " ".join((__doc__ or "").split()),
        "machine": {"cpu": platform.machine(), "cores": os.cpu_count(), "threads": 1},
        "torch": torch.__version__,
        "cost": {name: cost(name, options.rounds, options.real) for name in SMALL},
        "memory": [memory(name, words) for name, sizes in SMALL.items() for words in sizes],
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result["cost"], indent=2))
    for row in result["memory"]:
        print(row)


def cost(name: str, rounds: int, with_real: bool) -> dict[str, Any]:
    """CPU seconds of the whole command, of one rehearsed step and of one real step."""
    whole, few, many = [], [], []
    largest = 0
    for _ in range(rounds):
        seconds, resident = command(name)
        whole.append(seconds)
        largest = max(largest, resident)
        few.append(rehearsal(name, FEW))
        many.append(rehearsal(name, MANY))
    steps = (many[0][1] - few[0][1]) or 1
    step = statistics.median((b[0] - a[0]) / steps for a, b in zip(few, many, strict=True))
    told: dict[str, Any] = {
        "whole command, CPU seconds": round(statistics.median(whole), 2),
        "whole command, largest process, MB": round(largest / 1e6),
        "one rehearsed step, CPU seconds": round(step, 3),
    }
    if with_real:
        real = real_step(name)
        told["one real step, CPU seconds"] = round(real, 1)
        told["one real step / one rehearsed step"] = round(real / step, 1)
    return told


def command(name: str) -> tuple[float, int]:
    """CPU seconds and largest resident size of `sleuth dry`, its rehearsals included."""
    words = [sys.executable, "-m", "sleuth", "dry", "--no-corners", str(PROGRAMS / f"{name}.py")]
    with tempfile.TemporaryDirectory() as folder:
        meter = f"import resource, subprocess, sys; subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL); {_USED}"
        done = subprocess.run([sys.executable, "-c", meter, *words], cwd=folder, capture_output=True, text=True)
    seconds, resident = json.loads(done.stdout.splitlines()[-1])
    return seconds, resident


_USED = (
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); print([used.ru_utime + used.ru_stime, used.ru_maxrss * 1024])"
)


def rehearsal(name: str, rounds: int) -> tuple[float, int]:
    """CPU seconds of one rehearsal with fake tensors, and how many steps it took."""
    scenario = Scenario(target=str(PROGRAMS / f"{name}.py"), numbers="fake", rounds=rounds)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        outcome = hold(scenario, Path(folder))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, outcome.notes["ended"]["acts"]["step"]


def real_step(name: str) -> float:
    """Seconds on one thread of the second step of a real run on the CPU; the first one warms up."""
    smaller, times = PARTS[name]
    words = [sys.executable, str(PROGRAMS / f"{name}.py"), *smaller, "--steps", "2"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return float(done.stdout.rpartition("seconds of the last step:")[2]) * times


def memory(name: str, words: list[str]) -> dict[str, Any]:
    """The peak that a rehearsal tells, and the one of a real run."""
    program = PROGRAMS / f"{name}.py"
    real = subprocess.run(
        [sys.executable, "-c", ALLOCATED, str(program), *words, "--steps", "2"], capture_output=True, text=True
    )
    actual = json.loads(real.stdout.splitlines()[-1])
    scenario = Scenario(target=str(program), arguments=(*words, "--steps", "2"), device="cpu", cards=0)
    with tempfile.TemporaryDirectory() as folder:
        outcome = hold(replace(scenario, numbers="fake"), Path(folder))
    told = outcome.notes["memory"]["devices"]["cpu"]["peak"]
    return {"program": name, "sizes": " ".join(words), "told": told, "real": actual, "ratio": round(told / actual, 3)}


if __name__ == "__main__":
    main()
