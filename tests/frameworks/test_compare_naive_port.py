"""A port that passes `atol=1e-3` and is wrong twice: both causes are named, on every backend of Keras."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "compare" / "naive_port.py"


@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_both_faults_of_a_naive_port_are_named_and_the_faithful_one_is_silent(backend: str) -> None:
    environment = {**os.environ, "KERAS_BACKEND": backend, "OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    told = json.loads(done.stdout)
    assert told["naive"]["largest"] < 1e-3
    assert told["naive"]["diagnoses"] == ["activation-differs", "epsilon-differs"]
    assert any("0.001, not 1e-05" in title for title in told["naive"]["titles"])
    assert told["faithful"]["diagnoses"] == []
    assert told["faithful"]["score"] < 6 < told["naive"]["score"]
