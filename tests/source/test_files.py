"""Which files are checked: real folders, real links, real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sleuth.source.files import NoSuchPath, root_of, survey
from sleuth.source.ignoring import Patterns


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Makes files, given by their paths, in an empty folder and goes there."""

    def make(*paths, **contents):
        for path in paths:
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents.get(path, ""))
        monkeypatch.chdir(tmp_path)
        return tmp_path

    return make


def found(*paths, **options):
    return [os.path.relpath(path) for path in survey(paths or (".",), **options).files]


def test_python_files_and_notebooks_are_found_in_order(tree):
    tree("b.py", "a.py", "a/c.ipynb", "a/notes.txt", "a.d/x.py", "README.md", "a/deep/er/y.py")
    assert found() == ["a/c.ipynb", "a/deep/er/y.py", "a.d/x.py", "a.py", "b.py"]


@pytest.mark.parametrize(
    "folder", [".venv", "venv", "x/site-packages", "node_modules", "build", "dist", "__pycache__", ".hidden"]
)
def test_folders_of_others_are_passed_by(tree, folder):
    tree("a.py", f"{folder}/b.py", f"{folder}/c/d.py")
    assert found() == ["a.py"]


def test_an_environment_is_known_by_its_mark(tree):
    tree("a.py", "my-env/pyvenv.cfg", "my-env/lib/b.py")
    assert found() == ["a.py"]


def test_what_is_named_is_always_checked(tree):
    tree("build/b.py", ".venv/c.py", "script", ".gitignore")
    Path(".gitignore").write_text("build\nscript\n")
    assert found("build", ".venv/c.py", "script") == [".venv/c.py", "build/b.py", "script"]


def test_gitignore_files_speak_for_their_folders(tree):
    tree("a.py", "made.py", "sub/made.py", "sub/b.py", "sub/keep/made.py", "out/c.py")
    Path(".gitignore").write_text("made.py\n/out/\n")
    Path("sub/.gitignore").write_text("b.py\n!keep/made.py\n")
    assert found() == ["a.py", "sub/keep/made.py"]


def test_a_gitignore_above_holds_within_its_repository(tree, monkeypatch):
    top = tree("made.py", "sub/made.py", "sub/a.py", "sub/deep/b.py", ".git/info/exclude")
    Path(".gitignore").write_text("made.py\n")
    Path(".git/info/exclude").write_text("/sub/deep\n")
    monkeypatch.chdir(top / "sub")
    assert found() == ["a.py"]
    shutil.rmtree(top / ".git")
    assert found() == ["a.py", "deep/b.py", "made.py"]


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_in_a_repository_the_files_are_those_that_git_would_add(tree):
    tree("a.py", "made.py", "x/made.py", "x/b.py", "x/tmp/c.py", "x/y/z.py", "y/z.py", "k.ipynb")
    Path(".gitignore").write_text("made.py\ntmp/\n/y\n!x/made.py\n*.ipynb\n!k.ipynb\n")
    subprocess.run(["git", "init", "-q"], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "*.py", "*.ipynb"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(found()) == sorted(listed.stdout.split())


def test_exclusions_win_over_everything_but_a_name(tree):
    tree("a.py", "old/b.py", "old/c/d.py", "tests/test_a.py")
    Path("old/.gitignore").write_text("!b.py\n")
    here = os.getcwd()
    exclude = [Patterns(here, ["old"]), Patterns(here, ["test_*.py"])]
    assert found(exclude=exclude) == ["a.py"]
    assert found("old/b.py", exclude=exclude) == ["old/b.py"]
    assert found("old/b.py", "a.py", exclude=exclude, also_named=True) == ["a.py"]


def test_a_file_is_checked_once_however_it_is_reached(tree):
    tree("a.py", "sub/b.py")
    os.symlink("a.py", "link.py")
    os.symlink("..", "sub/loop")
    os.symlink("nowhere", "dangling.py")
    assert found(".", "a.py", "sub", "./sub/b.py") == ["a.py", "sub/b.py"]


def test_a_path_that_is_not_there_is_one_clear_line(tree):
    tree("a.py")
    with pytest.raises(NoSuchPath, match=r"^tran.py: no such file or folder$"):
        survey(["a.py", "tran.py"])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_named_file_that_may_not_be_read_is_one_clear_line(tree):
    tree("a.py")
    os.chmod("a.py", 0)
    with pytest.raises(NoSuchPath, match="permission denied"):
        survey(["a.py"])


def test_a_project_begins_at_its_mark_or_above_its_packages(tree):
    top = tree(
        "p/pyproject.toml", "p/src/pkg/__init__.py", "p/src/pkg/a.py", "q/pkg/__init__.py", "q/pkg/sub/__init__.py"
    )
    assert root_of(str(top / "p/src/pkg/a.py")) == str(top / "p")
    assert root_of(str(top / "q/pkg/sub/a.py")) == str(top / "q")
    assert root_of(str(top / "q/a.py")) == str(top / "q")


def test_what_a_gitignore_leaves_out_is_known_where_it_holds_programs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("kept.py", "made.py", "outputs/run.py", "pictures/one.png", "notes.txt"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("made.py\noutputs\npictures\nnotes.txt\n")
    found = survey(["."])
    assert [os.path.relpath(path) for path in found.files] == ["kept.py"]
    assert [os.path.relpath(path) for path in found.left_out] == ["made.py", "outputs"]
