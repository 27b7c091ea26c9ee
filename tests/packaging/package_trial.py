"""Builds the sdist, of that the wheel, and tries what they install, in a fresh environment for every Python found here.

python tests/packaging/package_trial.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
OLDEST = (3, 10)
BUG = "import torch\n\n\ndef loss(p):\n    return torch.log(torch.softmax(p, dim=1)).mean()\n"


def build(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel made from what is in the sdist."""
    sdist = _built(ROOT, folder, "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return sdist, _built(folder / sdist.name.removesuffix(".tar.gz"), folder, "wheel")


def _built(source: Path, folder: Path, kind: str) -> Path:
    hook = f"import sys; from hatchling import build; print(build.build_{kind}(sys.argv[1]))"
    return folder / run([sys.executable, "-c", hook, str(folder)], source).splitlines()[-1]


def attempt(commands: Path, folder: Path) -> dict[str, str]:
    """What the installed `sleuth` says to three questions, by the question."""
    (folder / "loss.py").write_text(BUG, encoding="utf-8")
    sleuth = str(commands / "sleuth")
    return {
        "version": run([sleuth, "--version"], folder),
        "check": run([sleuth, "check", "--format", "concise", "loss.py"], folder, expected=1),
        "explain": run([sleuth, "explain", "log-of-zero"], folder),
        "ask": run([sleuth, "ask", "the loss becomes nan after 100 steps"], folder),
    }


def run(command: list[str], folder: Path, expected: int = 0) -> str:
    """What a command prints, away from this repository's own sources."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", timeout=600)
    if done.returncode != expected:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def pythons() -> dict[str, str]:
    """Every Python that may have Sleuth, by its version: those on the path and those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [sys.executable, *map(str, sorted(pyenv.glob("3.*/bin/python")))]
    candidates += filter(None, (shutil.which(f"python3.{minor}") for minor in range(OLDEST[1], 20)))
    ask = "import sys, venv, ssl; print(*sys.version_info[:2], sep='.')"
    found: dict[str, str] = {}
    for python in candidates:
        done = subprocess.run([python, "-c", ask], capture_output=True, encoding="utf-8")
        version = done.stdout.strip()
        if done.returncode == 0 and tuple(map(int, version.split("."))) >= OLDEST:
            found.setdefault(version, python)
    return dict(sorted(found.items(), key=lambda item: int(item[0].partition(".")[2])))


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        sdist, wheel = build(Path(name))
        for version, python in pythons().items():
            for package in (wheel, sdist):
                told = _in_an_environment(python, package, Path(name))
                failed += told != "works"
                print(f"Python {version:5} {package.name:40} {told}", flush=True)
    return int(failed > 0)


def _in_an_environment(python: str, package: Path, folder: Path) -> str:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        commands = Path(name) / "environment" / "bin"
        try:
            run([python, "-m", "venv", str(commands.parent)], folder)
            run([str(commands / "python"), "-m", "pip", "install", "--quiet", str(package)], folder)
            attempt(commands, Path(name))
        except RuntimeError as problem:
            return str(problem)
    return "works"


if __name__ == "__main__":
    sys.exit(main())
