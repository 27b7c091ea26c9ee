"""What rehearsing a small program costs beside running it: CPU seconds of the whole commands, as ratios from one run.

Programs of the zoo that do not go wrong, run by themselves and under `sleuth dry` with all its corners, in turn.
`--against` names another source tree of Sleuth to rehearse them with as well; `--also` a program of somebody else's."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
RESULT = Path(__file__).parent / "results" / "dry_small.json"
PROGRAMS = ("digits_flattened", "labels_left_behind", "started_again", "second_card", "validation_never_tried")
_USED = (
    "import resource, subprocess, sys;"
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN); print(used.ru_utime + used.ru_stime)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path, metavar="TREE", help="also with the Sleuth in this tree's src")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=COMMAND", help="another program")
    options = parser.parse_args()
    programs = {name: [str(ROOT / "zoo" / "dry" / name / "healthy.py")] for name in PROGRAMS}
    for given in options.also:
        name, _, command = given.partition("=")
        programs[name] = shlex.split(command)
    result = {
        "what": " ".join((__doc__ or "").split()),
        "machine": {"cpu": platform.machine(), "cores": os.cpu_count(), "threads": 1},
        "torch": torch.__version__,
        "programs": {name: row(words, options.rounds, options.against) for name, words in programs.items()},
    }
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps(result["programs"], indent=2))


def row(words: list[str], rounds: int, against: Path | None) -> dict[str, Any]:
    commands = {"by itself": ([sys.executable, *words], ROOT), "rehearsed": (_dry(words), ROOT)}
    if against is not None:
        commands["rehearsed before"] = (_dry(words), against)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, (command, tree) in commands.items():
            seconds[name].append(used(command, tree, Path(words[0]).parent))
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    alone = medians["by itself"]
    ratios = {f"{name} / by itself": round(taken / alone, 2) for name, taken in medians.items() if name != "by itself"}
    return {**{f"{name}, CPU seconds": round(taken, 2) for name, taken in medians.items()}, **ratios}


def _dry(words: list[str]) -> list[str]:
    return [sys.executable, "-m", "sleuth", "dry", *words]


def used(command: list[str], tree: Path, home: Path) -> float:
    paths = os.pathsep.join((str(tree / "src"), str(home)))
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    with tempfile.TemporaryDirectory() as folder:
        meter = [sys.executable, "-c", _USED, *command]
        done = subprocess.run(meter, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


if __name__ == "__main__":
    main()
