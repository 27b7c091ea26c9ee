"""The environments that stand for all Pythons, all torches from the floor to the newest, and their two builds."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# The address of an index that has builds of torch without CUDA, where the machine's own has none.
CPU_BUILDS = os.environ.get("TORCH_CPU_INDEX")
# What the programs of the zoo and the tests of the oracles use.
PROGRAMS_NEED = ["numpy", "pytest"]


class CannotBuild(Exception):
    """`str()` says why this machine cannot have the environment."""


@dataclass(frozen=True)
class Environment:
    """`build` is "cuda" for what `pip install torch` brings on Linux, "cpu" for the build without CUDA, and "ready" for
    an interpreter that has a torch of its own, e.g. the distribution's: `python` is then its path."""

    python: str
    torch: str
    build: str

    @property
    def name(self) -> str:
        return f"{Path(self.python).name}-torch{self.torch}-{self.build}"

    def is_row(self, row: dict[str, Any]) -> bool:
        """Is this the row of the results that the environment gave?"""
        told = (row["python"].startswith(f"{self.python}."), row["torch"], row["build"].partition(" ")[0].lower())
        return told == (True, self.torch, self.build)

    def built(self, folder: Path) -> Path:
        """Its interpreter, with Sleuth installed as a user would install it."""
        _run([_interpreter(self.python), "-m", "venv", str(folder)])
        python = folder / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        if self.build == "ready":
            _lend(self.python, folder)
        elif self.build == "cpu":
            # Alone: pip would ask for every other package there, too.
            where = ["--extra-index-url", CPU_BUILDS] if CPU_BUILDS else []
            _run([*pip, *where, "--retries", "0", "--timeout", "20", "--no-deps", f"torch=={self.torch}+cpu"])
        else:
            _run([*pip, f"torch=={self.torch}"])
        _run([*pip, f"{ROOT}[torch]", *PROGRAMS_NEED])
        return python


# Each Python, each torch, each of its two builds, and the corners: oldest with oldest, newest with newest. A torch has
# wheels for the Pythons of its time only.
COVER = (
    Environment("3.10", "2.6.0", "cuda"),
    Environment("3.10", "2.6.0", "cpu"),
    Environment("3.13", "2.6.0", "cuda"),
    Environment("3.11", "2.8.0", "cuda"),
    Environment("3.13", "2.8.0", "cpu"),
    Environment("3.12", "2.10.0", "cuda"),
    Environment("3.14", "2.10.0", "cpu"),
    Environment("3.11", "2.13.0", "cpu"),
    Environment("3.13", "2.13.0", "cuda"),
    Environment("3.10", "2.14.1", "cuda"),
    Environment("3.12", "2.15.0", "cuda"),
    Environment("3.13", "2.15.0", "cpu"),
    Environment("3.14", "2.15.0", "cuda"),
)


def _interpreter(version: str) -> str:
    """By path, by name on the path, or among those of pyenv."""
    if "/" in version:
        return version
    found = shutil.which(f"python{version}")
    if found is not None and subprocess.run([found, "-c", "import venv, ssl"], capture_output=True).returncode == 0:
        return found
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    of_pyenv = sorted(root.glob(f"{version}.*/bin/python"))
    if not of_pyenv:
        raise CannotBuild(f"there is no Python {version} here")
    return str(of_pyenv[-1])


def _lend(python: str, folder: Path) -> None:
    """Let the environment see where this interpreter has its torch."""
    asked = "import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))"
    shelf = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "lent.pth").write_text(f"{shelf}\n", encoding="utf-8")


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise CannotBuild((errors or done.stderr.strip().splitlines() or ["?"])[-1])
