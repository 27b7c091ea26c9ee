"""A virtual environment of its own for each rival, kept under `.cache/` beside this file."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CACHE = HERE / ".cache"
CONSTRAINTS = ROOT / "constraints.txt"
PROGRAMS_NEED = ["torch==2.13.0", "numpy"]


@dataclass(frozen=True)
class Rival:
    """A package of the index, at the version that was read and is measured here."""

    name: str
    version: str
    source: str

    @property
    def folder(self) -> Path:
        return CACHE / "envs" / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"


RIVALS = {
    rival.name: rival
    for rival in [
        Rival("torchmortem", "0.1.1", "https://pypi.org/project/torchmortem"),
        Rival("torch-audit", "0.3.0", "https://github.com/RMalkiv/torch-audit"),
        Rival("neuraldbg", "1.3.2", "https://github.com/LambdaSection/NeuralDBG"),
        Rival("training-doctor", "0.1.0", "https://github.com/SalahAlHaismawi/training-doctor"),
        Rival("traincheck", "0.2.0", "https://github.com/OrderLab/TrainCheck"),
    ]
}


def cache(name: str) -> Path:
    """A folder under `.cache/`, which git and the linters leave alone."""
    folder = CACHE / name
    folder.mkdir(parents=True, exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def set_up(rival: Rival) -> str | None:
    """Installs the rival, unless that was done before. Returns the reason where it cannot be installed."""
    requirements = [*PROGRAMS_NEED, f"{rival.name}=={rival.version}"]
    ready = cache("envs") / f"{rival.name}.ready"
    if ready.exists() and ready.read_text(encoding="utf-8").split() == requirements:
        return None
    subprocess.run([sys.executable, "-m", "venv", str(rival.folder)], check=True)
    # Without the constraints a range such as torch>=2.0 brings the newest torch and gigabytes of CUDA packages.
    install = [str(rival.python), "-m", "pip", "install", "--quiet", "--constraint", str(CONSTRAINTS)]
    done = subprocess.run([*install, *requirements], capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        return "cannot be installed: " + (errors or done.stderr.strip().splitlines())[-1]
    ready.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    return None
