"""Public repositories at one commit each, fetched once and kept under `.cache/`."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CACHE = Path(__file__).resolve().parent / ".cache"


def pinned(listed: Path) -> list[dict[str, Any]]:
    """The repositories of a list: each a name, a commit and scripts."""
    repositories: list[dict[str, Any]] = tomllib.loads(listed.read_text(encoding="utf-8"))["repository"]
    return repositories


def fetched(name: str, commit: str, mirrors: Path | None) -> Path:
    """The Python files of a repository at a commit, fetched if they are not there yet."""
    folder = CACHE / f"{name.replace('/', '+')}-{commit[:12]}"
    if folder.exists():
        return folder
    CACHE.mkdir(exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n", encoding="utf-8")
    with tempfile.TemporaryDirectory(dir=CACHE) as draft:
        repository = Path(draft) / "repository.git" if mirrors is None else mirrors / name.replace("/", "+") / "repo"
        if mirrors is None:
            subprocess.run(["git", "init", "--quiet", "--bare", str(repository)], check=True)
            address = f"https://github.com/{name}"
            subprocess.run(["git", f"--git-dir={repository}", "fetch", "--depth=1", address, commit], check=True)
        files = Path(draft) / "files"
        wanted = [":(glob)**/*.py", ":(glob)**/.gitignore"]  # the latter keep folders that are empty otherwise
        archive_of = ["git", f"--git-dir={repository}", "archive", commit]
        packed = subprocess.run([*archive_of, *wanted], check=True, capture_output=True)
        with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
            archive.extractall(files)
        files.rename(folder)
    return folder
