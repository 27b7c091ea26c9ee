"""What the package index would get: built, installed into an environment of its own, tried; and what its page says."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import zipfile
from email.message import Message
from importlib import metadata
from pathlib import Path

import package_trial
import pytest
from markdown_it import MarkdownIt
from packaging.requirements import Requirement

import sleuth
from sleuth import handbook

ROOT = package_trial.ROOT
# Extras for those who work on Sleuth itself.
NOT_FOR_USERS = {"dev", "frameworks", "all"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package_trial.build(tmp_path_factory.mktemp("packages"))[1]


@pytest.fixture(scope="module")
def about(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_string(archive.read(name).decode("utf-8"))


def _needed(name: str) -> set[str]:
    """A package and everything that it cannot do without."""
    here = {"extra": ""}
    needs = [Requirement(text) for text in metadata.requires(name) or ()]
    wanted = [need.name for need in needs if need.marker is None or need.marker.evaluate(here)]
    return {name}.union(*map(_needed, wanted))


def _lend(names: set[str], site_packages: Path) -> None:
    """Show an environment these packages of ours, and no others."""
    for name in names:
        files = metadata.files(name) or []
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            (site_packages / top).symlink_to(metadata.distribution(name).locate_file(top))


def test_an_installed_wheel_works_with_nothing_but_what_it_asks_for(wheel, about, tmp_path):
    environment = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python")]
    package_trial.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], tmp_path)
    (site_packages,) = environment.glob("lib/python*/site-packages")
    core = [need for need in map(Requirement, about.get_all("Requires-Dist")) if "extra" not in str(need.marker)]
    _lend(
        set().union(*(_needed(need.name) for need in core if need.marker is None or need.marker.evaluate())),
        site_packages,
    )
    told = package_trial.attempt(environment / "bin", tmp_path)
    assert told["version"] == f"sleuth {about['Version']}\n" == f"sleuth {sleuth.__version__}\n"
    assert "loss.py:5" in told["check"]
    assert handbook.page("log-of-zero").text in told["explain"]
    assert "non-finite" in told["ask"] or "nan" in told["ask"]


def test_the_wheel_holds_every_file_of_the_package(wheel):
    source = ROOT / "src"
    ours = {path.relative_to(source).as_posix() for path in (source / "sleuth").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("sleuth/")}
    assert held == {name for name in ours if "__pycache__" not in name}


def test_all_is_all(about):
    asked = {extra: set() for extra in about.get_all("Provides-Extra")}
    for need in map(Requirement, about.get_all("Requires-Dist")):
        for extra in asked:
            if need.marker is not None and need.marker.evaluate({"extra": extra}):
                asked[extra].add(f"{need.name}{need.specifier}")
    for_users = set(asked) - NOT_FOR_USERS
    assert asked["all"] == set().union(*(asked[extra] for extra in for_users))


def test_the_page_on_the_package_index_has_no_link_that_breaks_there(about):
    assert about["Description-Content-Type"] == "text/markdown"
    spans = [span for token in MarkdownIt().parse(about.get_payload()) for span in token.children or ()]
    addresses = [str(span.attrs.get("href") or span.attrs.get("src")) for span in spans if span.attrs]
    assert addresses
    assert [address for address in addresses if not address.startswith(("https://", "#"))] == []


def test_no_message_asks_to_install_a_package_that_is_not_ours():
    texts = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".md", ".toml", ".html", ".js")]
    asks = re.compile(r"pip install[^\n]{0,12}\bsleuth(?!-ml)\b|'sleuth\[")
    texts += ROOT.glob("*.md")
    wrong = [str(path) for path in texts if asks.search(path.read_text(encoding="utf-8"))]
    assert wrong == []
