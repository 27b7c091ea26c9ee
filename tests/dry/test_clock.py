"""Whose time is counted: what other programs take of the processor is not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sleuth.dry.clock import EVERY, Clock

BUSY, ASLEEP = "while True: pass", "import time; time.sleep(600)"
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"


@contextmanager
def running(*programs: str, core: int | None = None) -> Iterator[list[int]]:
    started = [subprocess.Popen([sys.executable, "-c", program], start_new_session=True) for program in programs]
    try:
        for process in started:
            if core is not None:
                os.sched_setaffinity(process.pid, {core})
        time.sleep(4 * EVERY)  # they begin by starting Python
        yield [process.pid for process in started]
    finally:
        for process in started:
            os.killpg(process.pid, 9)
            process.wait()


def looked(clock: Clock, times: int = 4) -> Clock:
    for _ in range(times):
        time.sleep(EVERY)
        clock.look()
    return clock


linux = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="only Linux tells who waits for a core")


@linux
def test_a_process_that_sleeps_uses_its_time_standing_still() -> None:
    with running(ASLEEP) as (process,):
        clock = looked(Clock(60.0, process))
    assert clock.stood_still
    assert clock.used >= 4 * EVERY


@linux
def test_one_that_gets_a_part_of_a_core_has_used_that_part_and_does_not_stand_still() -> None:
    core = min(os.sched_getaffinity(0))
    with running(*[BUSY] * 4, core=core) as (process, *_):
        began = time.monotonic()
        clock = looked(Clock(60.0, process))
        passed = time.monotonic() - began
    assert not clock.stood_still
    assert clock.used < passed * 0.8


@linux
def test_the_work_of_its_children_is_its_own() -> None:
    with running(PARENT) as (process,):
        clock = looked(Clock(60.0, process))
    assert not clock.stood_still
    assert clock.used > 0


def test_the_clock_on_the_wall_ends_what_is_never_counted() -> None:
    clock = Clock(0.01)
    time.sleep(0.06)
    assert clock.is_over
