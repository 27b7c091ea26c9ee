"""Training compared with Keras, on every backend, in this process and in a child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "compare" / "trained_port.py"


@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_a_port_with_another_momentum_is_told_and_the_faithful_one_is_silent(backend: str, tmp_path: Path) -> None:
    environment = {**os.environ, "KERAS_BACKEND": backend, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, PROGRAM, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout) == {
        "faithful here": [],
        "faithful there": [],
        "faithful unchanged": True,
        "slow here": ["running-statistics-differ"],
        "slow there": ["running-statistics-differ"],
        "slow unchanged": True,
    }
