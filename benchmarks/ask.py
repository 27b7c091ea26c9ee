"""How long `sleuth ask` takes, whole, beside `python -c pass`; and how many texts a second `--lines` answers.

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
import tempfile
import time
from pathlib import Path

RESULT = Path(__file__).parent / "results" / "ask.json"
SLEUTH = str(Path(sys.executable).with_name("sleuth"))
BASELINE = 'python -c "pass"'
# An installed package is compiled once, by pip or by its first start; so are we, in the round that is not counted.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 88, in <module>
    main()
  File "net.py", line 23, in forward
    return self.fc(x.flatten(1))
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", line 117, in forward
    return F.linear(input, self.weight, self.bias)
RuntimeError: mat1 and mat2 shapes cannot be multiplied (64x1568 and 3136x10)
"""
QUESTION = "My loss is nan after some hundred steps; I take the log of a softmax. What can I do about it?"
LOG = "".join(f"step {n} loss {2.3 / (1 + n):.4f} lr 0.001\n" for n in range(30_000)) + TRACEBACK
TEXTS = {"a question": QUESTION, "a traceback": TRACEBACK, "a log of 1 MB": LOG}
LINES = 300


def processor_time(command: list[str]) -> float:
    """Seconds of user and system time of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(commands: dict[str, list[str]], rounds: int) -> dict[str, dict[str, list[float]]]:
    times: dict[str, dict[str, list[float]]] = {name: {"cpu": [], "wall": []} for name in commands}
    for command in commands.values():
        processor_time(command)
    shuffled = list(commands)
    for _ in range(rounds):
        random.shuffle(shuffled)
        for name in shuffled:
            start = time.perf_counter()
            times[name]["cpu"].append(processor_time(commands[name]))
            times[name]["wall"].append(time.perf_counter() - start)
    return times


def lines_a_second(folder: Path) -> float:
    """Answers per second of processor time, starting up included."""
    path = folder / "lines.txt"
    texts = [QUESTION, TRACEBACK.replace("\n", "\\n"), "how to slice a tensor by another tensor"]
    path.write_text("\n".join(texts[n % 3] for n in range(LINES)) + "\n", encoding="utf-8")
    return LINES / processor_time([SLEUTH, "ask", "--lines", str(path)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {BASELINE: [sys.executable, "-c", "pass"]}
        for number, (what, text) in enumerate(TEXTS.items()):
            path = folder / f"{number}.log"
            path.write_text(text, encoding="utf-8")
            commands[f"sleuth ask, {what}"] = [SLEUTH, "ask", str(path)]
        times = measure(commands, rounds)
        speed = lines_a_second(folder)
    rows = {
        name: {
            "cpu_ms": round(1000 * statistics.median(own["cpu"]), 1),
            "wall_ms": round(1000 * statistics.median(own["wall"]), 1),
            "ratio": round(
                statistics.median(a / b for a, b in zip(own["cpu"], times[BASELINE]["cpu"], strict=True)), 1
            ),
        }
        for name, own in times.items()
    }
    facts = {"python": platform.python_version(), "rounds": rounds, "baseline": BASELINE, "commands": rows}
    RESULT.write_text(json.dumps({**facts, "lines_per_cpu_second": round(speed)}, indent=2) + "\n", encoding="utf-8")
    print(f"| command | CPU time, ms | wall, ms | ratio of CPU time to `{BASELINE}` |\n|---|---:|---:|---:|")
    for command, row in rows.items():
        print(f"| `{command}` | {row['cpu_ms']:.1f} | {row['wall_ms']:.1f} | {row['ratio']:.1f} |")
    print(f"\n`sleuth ask --lines`: {speed:.0f} texts per second of CPU time")


if __name__ == "__main__":
    main()
