"""How a watch begins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_the_watch_does_not_import_torch_before_the_program_does() -> None:
    """What is made at import would be taken for a training that was under way before."""
    source = "import sys, sleuth.live.run, sleuth.live.crashes; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    assert subprocess.run([sys.executable, "-c", source], env=environment, timeout=120).returncode == 0
