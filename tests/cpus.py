"""Runs the tests that compute as they would on other CPUs: other instruction sets, older kernels, two threads.

python tests/cpus.py [SETTING ...] [-- PYTEST ARGUMENTS]
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What computes with torch; the other tests read text.
COMPUTING = ("tests/zoo", "tests/live", "tests/testing", "tests/dry", "tests/compare", "tests/test_handbook_pages.py")
SETTINGS = {
    "default": {"ATEN_CPU_CAPABILITY": "default"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "avx512": {"ATEN_CPU_CAPABILITY": "avx512"},
    "onednn-sse41": {"ONEDNN_MAX_CPU_ISA": "SSE41"},
    "onednn-avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2"},
    # All three at once: as far from a new CPU as this one can go.
    "oldest": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_CBWR": "COMPATIBLE"},
    "two-threads": {"OMP_NUM_THREADS": "2"},
}
# torch believes the variable, and a CPU without these instructions would end the process.
NEEDS = {"avx2": "avx2", "avx512": "avx512f"}


def instructions() -> set[str]:
    return set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())


def last_line(setting: str, arguments: list[str]) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    environment = {**os.environ, **SETTINGS[setting]}
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stdout)
    return done.returncode, done.stdout.splitlines()[-1]


def main() -> int:
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    arguments = words[split + 1 :] or list(COMPUTING)
    here = instructions()
    worst = 0
    for setting in words[:split] or SETTINGS:
        if NEEDS.get(setting, "") not in here | {""}:
            print(f"{setting:14} left out: this CPU has no {NEEDS[setting]}", flush=True)
            continue
        status, told = last_line(setting, arguments)
        worst = max(worst, status)
        print(f"{setting:14} {told}", flush=True)
    return worst


if __name__ == "__main__":
    sys.exit(main())
