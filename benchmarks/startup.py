"""How long `sleuth` takes to start, beside `python -c "import rich"`: processor time, as ratios from one run.

The rounds are interleaved and shuffled, so that whatever else the machine does falls on all commands alike.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
from pathlib import Path

RESULT = Path(__file__).parent / "results" / "startup.json"
SLEUTH = str(Path(sys.executable).with_name("sleuth"))
BASELINE = 'python -c "import rich"'
# An installed package is compiled once, by pip or by its first start; so are we, in the round that is not counted.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
COMMANDS = {
    BASELINE: [sys.executable, "-c", "import rich"],
    'python -c "pass"': [sys.executable, "-c", "pass"],
    "sleuth --help": [SLEUTH, "--help"],
    "sleuth explain": [SLEUTH, "explain"],
    "sleuth explain log-of-zero": [SLEUTH, "explain", "log-of-zero"],
    "python -m sleuth --help": [sys.executable, "-m", "sleuth", "--help"],
}


def processor_time(command: list[str]) -> float:
    """Seconds of user and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for command in COMMANDS.values():
        processor_time(command)
    shuffled = list(COMMANDS)
    for _ in range(rounds):
        random.shuffle(shuffled)
        for name in shuffled:
            times[name].append(processor_time(COMMANDS[name]))
    return times


def summary(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Each command's median time, and the median over the rounds of its ratio to the baseline in the same round."""
    return {
        name: {
            "milliseconds": round(1000 * statistics.median(own), 1),
            "ratio": round(statistics.median(a / b for a, b in zip(own, times[BASELINE], strict=True)), 2),
        }
        for name, own in times.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    rounds = parser.parse_args().rounds
    commands = summary(measure(rounds))
    RESULT.parent.mkdir(exist_ok=True)
    facts = {"python": platform.python_version(), "rounds": rounds, "baseline": BASELINE, "commands": commands}
    RESULT.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    print(f"| command | CPU time, ms | ratio to `{BASELINE}` |\n|---|---:|---:|")
    for name, row in commands.items():
        print(f"| `{name}` | {row['milliseconds']:.1f} | {row['ratio']:.2f} |")


if __name__ == "__main__":
    main()
