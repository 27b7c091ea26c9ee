"""The code that is read: sources of pinned packages and repositories, fetched once and kept under `.cache/`."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.parser import Parser
from importlib import metadata
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
CACHE = HERE / ".cache"
# What a project says of the versions it works with belongs to its source as much as the code does.
KEPT = re.compile(
    r".*\.(py|ipynb)|requirements.*\.txt|constraints.*\.txt|pyproject\.toml|setup\.cfg|environment\.ya?ml|Pipfile"
)
LARGEST = 3_000_000


class CannotBeHad(Exception):
    """A corpus could not be fetched; `str()` of it says why."""


@dataclass(frozen=True)
class Corpus:
    """A package or a repository at one version."""

    name: str
    version: str
    group: str

    @property
    def folder(self) -> Path:
        return CACHE / "corpora" / f"{self.name.replace('/', '+')}-{self.version[:12]}"

    def fetch(self, into: Path, mirrors: Path | None) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class Package(Corpus):
    """A wheel of the package index; its Python files and what it requires."""

    def fetch(self, into: Path, mirrors: Path | None) -> None:
        wheels = into / "wheels"
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        done = subprocess.run(
            [*download, "--dest", str(wheels), f"{self.name}=={self.version}"], capture_output=True, text=True
        )
        if done.returncode:
            raise CannotBeHad(f"pip cannot download {self.name}=={self.version}: {_last_line(done.stderr)}")
        (wheel,) = wheels.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if name.endswith(".py"):
                    archive.extract(name, into)
                elif name.endswith(".dist-info/METADATA"):
                    _write_requirements(into, archive.read(name).decode())
        shutil.rmtree(wheels)


@dataclass(frozen=True)
class InstalledPackage(Corpus):
    """A package too large to download once more just to be read."""

    def fetch(self, into: Path, mirrors: Path | None) -> None:
        found = importlib.util.find_spec(self.name)
        version = metadata.version(self.name).partition("+")[0] if found else "none"
        if found is None or not found.submodule_search_locations or version != self.version:
            raise CannotBeHad(f"{self.name} {self.version} is read where it is installed, and {version} is")
        package = Path(found.submodule_search_locations[0])
        for path in package.rglob("*.py"):
            target = into / path.relative_to(package.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


@dataclass(frozen=True)
class Repository(Corpus):
    """A public repository at one commit: its Python files, notebooks and declared requirements."""

    def fetch(self, into: Path, mirrors: Path | None) -> None:
        repository = into / "repository.git"
        if mirrors is not None:
            repository = mirrors / self.name.replace("/", "+") / "repo"
            repository = repository / ".git" if (repository / ".git").exists() else repository
        else:
            _git(repository, "init", "--quiet", "--bare", str(repository))
            address = f"https://github.com/{self.name}"
            _git(repository, "fetch", "--quiet", "--depth=1", address, self.version)
        for name, blob in self._files(repository):
            # A mirror may lack the largest files, so nobody reads them: notebooks full of pictures.
            with suppress(CannotBeHad):
                data = _git(repository, "cat-file", "blob", blob)
                if len(data) <= LARGEST:
                    (into / name).parent.mkdir(parents=True, exist_ok=True)
                    (into / name).write_bytes(data)
        shutil.rmtree(into / "repository.git", ignore_errors=True)

    def _files(self, repository: Path) -> Iterator[tuple[str, str]]:
        for entry in _git(repository, "ls-tree", "-r", "-z", self.version).decode().split("\0"):
            about, _, name = entry.partition("\t")
            # A symbolic link (mode 120000) shows a file that is read anyway.
            if KEPT.fullmatch(name.rpartition("/")[2]) and about.startswith("100"):
                yield name, about.split()[2]


def corpora(group: str | None = None) -> list[Corpus]:
    """All corpora of `corpora.toml`, or those of one group."""
    table = tomllib.loads((HERE / "corpora.toml").read_text(encoding="utf-8"))
    found: list[Corpus] = []
    for entry in table.get("package", []):
        kind = InstalledPackage if entry.get("installed") else Package
        found.append(kind(entry["name"], entry["version"], entry["group"]))
    found += [Repository(entry["name"], entry["version"], entry["group"]) for entry in table.get("repository", [])]
    return [corpus for corpus in found if group in (None, corpus.group)]


def ready(corpus: Corpus, mirrors: Path | None = None) -> Path:
    """The folder with the corpus, fetched if it is not there yet. Raises CannotBeHad."""
    if not corpus.folder.exists():
        CACHE.mkdir(exist_ok=True)
        (CACHE / ".gitignore").write_text("*\n", encoding="utf-8")
        draft = corpus.folder.with_name(corpus.folder.name + ".part")
        shutil.rmtree(draft, ignore_errors=True)
        # With a .git of its own it is a project, whatever the ignore lists and settings of the folders above say.
        (draft / ".git").mkdir(parents=True)
        corpus.fetch(draft, mirrors)
        draft.rename(corpus.folder)
    return corpus.folder


def _write_requirements(folder: Path, about: str) -> None:
    needed = Parser().parsestr(about, headersonly=True).get_all("Requires-Dist") or []
    lines = [requirement for requirement in needed if "extra ==" not in requirement]
    (folder / "requirements.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _git(repository: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", f"--git-dir={repository}", *arguments], capture_output=True)
    if done.returncode:
        raise CannotBeHad(f"git {arguments[0]}: {_last_line(done.stderr.decode(errors='replace'))}")
    return done.stdout


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no reason given"])[-1]
