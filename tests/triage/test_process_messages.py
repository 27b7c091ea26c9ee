"""Messages that only a process of its own can give: of a shell whose program died, of pip, of a worker."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from recognising import errors_in

SPAWNED = """\
import multiprocessing

def work():
    pass

multiprocessing.get_context("spawn").Process(target=work).start()
"""
FILES = """\
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
opened = []
while True:
    opened.append(open("/dev/null"))
"""
PYTHON = sys.executable
CASES = {
    "segmentation-fault": ["bash", "-c", "bash -c 'kill -SEGV $$'; true"],
    "killed": ["bash", "-c", "bash -c 'kill -KILL $$'; true"],
    "no-matching-distribution": [PYTHON, "-m", "pip", "install", "--no-index", "no-such-package-anywhere"],
    "spawn-without-main": [PYTHON, "spawned.py"],
    "too-many-open-files": [PYTHON, "-c", FILES],
    "keyboard-interrupt": [PYTHON, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"],
    "module-missing": [PYTHON, "-m", "no_such_module"],
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_process_says_when_it_dies_is_known(name: str, tmp_path: Path) -> None:
    (tmp_path / "spawned.py").write_text(SPAWNED)
    done = subprocess.run(CASES[name], capture_output=True, text=True, cwd=tmp_path, check=False)
    found = errors_in(done.stdout + done.stderr)
    assert [match.signature.name for match in found][:1] == [name]


def test_a_python_that_crashes_in_native_code_is_known_by_what_faulthandler_says() -> None:
    command = [PYTHON, "-X", "faulthandler", "-c", "import ctypes; ctypes.string_at(0)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert errors_in(done.stderr)[0].signature.name == "segmentation-fault"
