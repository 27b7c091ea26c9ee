"""Patterns as git reads them, with git itself as the judge."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sleuth.source.ignoring import Patterns

NAMES = st.text("ab.", min_size=1, max_size=3).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PIECES = st.sampled_from(
    ["a", "b", ".", "*", "**", "?", "/", "/**/", "[ab]", "[!a]", "[a-b", "\\a", " ", "!", "#", "\\"]
)
# Git forgets that a name goes before in `a**/b`, and takes the stars for folders.
PATTERNS = (
    st.lists(PIECES, min_size=1, max_size=5).map("".join).filter(lambda line: not re.search(r"[^/*]\*\*+/", line))
)
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def ignored_by_git(folder, path):
    asked = ["git", "-c", "core.excludesFile=", "check-ignore", "-q", "--no-index", path]
    return subprocess.run(asked, cwd=folder, check=False).returncode == 0


@needs_git
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(PATTERNS, min_size=1, max_size=3), path=PATHS)
@example(lines=["a/**"], path="a/b")
@example(lines=["**/a"], path="b/a")
@example(lines=["a/**/b"], path="a/b")
@example(lines=["/a"], path="b/a")
@example(lines=["a/"], path="b/a/b")
@example(lines=["*", "!a"], path="a")
@example(lines=["a\\ "], path="a ")
@example(lines=["[[:alpha:]]"], path="b")
def test_a_path_is_left_out_where_git_leaves_it_out(repository, lines, path):
    (repository / ".gitignore").write_text("\n".join(lines) + "\n")
    assert left_out(Patterns(str(repository), lines), str(repository), path) is ignored_by_git(repository, path)


def left_out(patterns, folder, path):
    """As a walk would find it: what is in a folder that is left out is never seen."""
    parts = path.split("/")
    for count in range(1, len(parts)):
        if patterns.verdict(os.path.join(folder, *parts[:count]), is_folder=True):
            return True
    return bool(patterns.verdict(os.path.join(folder, *parts), is_folder=False))


@given(st.lists(st.text(max_size=12), max_size=4), PATHS)
def test_no_pattern_is_too_odd(lines, path):
    Patterns("/top", lines).names(os.path.join("/top", path))


def test_a_file_is_named_by_the_folder_it_is_in():
    patterns = Patterns("/top", ["tests/"])
    assert patterns.names("/top/a/tests/deep/x.py")
    assert not patterns.names("/top/tests")
    assert not patterns.names("/elsewhere/tests/x.py")
