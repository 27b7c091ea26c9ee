"""Results are kept exactly as long as they hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth.source import cache as caches
from sleuth.source import runner
from sleuth.source.runner import Request


@pytest.fixture
def check(pretend):
    """Examines all files of the project with a cache and says what was found."""

    def check(*names, **options):
        files = (
            [str(path) for path in sorted(pretend.rglob("*.py"))] if not names else [str(pretend / n) for n in names]
        )
        request = Request(cache=str(pretend / ".sleuth" / "cache"), **options)
        return runner.check(files, request)

    return check


def entries(folder):
    return sorted((folder / ".sleuth" / "cache").glob("*.json"))


def test_a_second_look_examines_nothing_and_finds_the_same(pretend, check, examined):
    (pretend / "a.py").write_text("import b\nold(1)\n")
    (pretend / "b.py").write_text("old(2)\nrisky(3)")
    (pretend / "c.py").write_text("x = (")
    first = check()
    assert examined() == ["a.py", "b.py"]
    again = check()
    assert examined() == []
    assert again == first
    assert [finding.place.path for finding in again.findings] == ["a.py", "b.py", "b.py"]
    assert again.problems == ("c.py:1:5: syntax error: '(' was never closed",)


def test_a_changed_file_is_examined_again_with_those_that_depend_on_it(pretend, check, examined):
    (pretend / "a.py").write_text("import b\n")
    (pretend / "b.py").write_text("x = 1\n")
    (pretend / "c.py").write_text("x = 1\n")
    check()
    examined()
    (pretend / "b.py").write_text("old(1)\n")
    assert [finding.place.path for finding in check().findings] == ["b.py"]
    assert examined() == ["a.py", "b.py"]


def test_a_dependency_that_is_not_itself_checked_counts(pretend, check, examined):
    (pretend / "a.py").write_text("import b\n")
    (pretend / "b.py").write_text("x = 1\n")
    os.utime(pretend / "b.py", (1, 1))
    check("a.py")
    check("a.py")
    assert examined() == ["a.py"]
    (pretend / "b.py").write_text("old(1)\n")
    assert len(check("a.py").findings) == 1
    (pretend / "b.py").unlink()
    assert check("a.py").findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "import b\n",
        "from b import x\n",
        "from . import b\n",
        "from .import b\n",
        "if x:\n    import c, b as d\n",
        "from . import (  # all of them\n    c,\n    b,\n)\n",
        "import b.c.d\n",
    ],
)
def test_a_file_that_appears_is_seen_by_those_that_look_for_it(pretend, check, examined, text):
    (pretend / "a.py").write_text(text)
    (pretend / "z.py").write_text("import torch\n")
    check()
    examined()
    (pretend / "b.py").write_text("old(1)\n")
    check()
    assert examined() == ["a.py", "b.py"]


def test_another_version_in_the_requirements_is_another_result(pretend, check, examined):
    (pretend / "a.py").write_text("x = 1\n")
    (pretend / "requirements.txt").write_text("torch==2.1\n")
    check()
    (pretend / "requirements.txt").write_text("torch==2.2\n")
    examined()
    check()
    assert examined() == ["a.py"]


def test_other_options_are_other_results(pretend, check, examined):
    (pretend / "a.py").write_text("old(1)\nrisky(2)\n")
    check()
    assert [f.diagnosis for f in check(select=frozenset({"risky-call"})).findings] == ["risky-call"]
    check(targets={"torch": "==2.1"})
    check(targets={"torch": "==2.2"})
    assert len(examined()) == 4
    check(select=frozenset({"risky-call"}))
    check(targets={"torch": "==2.1"})
    assert examined() == []


def test_a_change_in_sleuth_itself_is_another_result(pretend, check, examined, monkeypatch):
    (pretend / "a.py").write_text("old(1)\n")
    check()
    monkeypatch.setattr(caches, "fingerprint", lambda: "another")
    check()
    assert examined() == ["a.py", "a.py"]


def test_the_fingerprint_is_that_of_the_source_and_the_handbook():
    own = [os.path.basename(path) for path in caches._own_files(os.path.dirname(caches.sleuth.__file__))]
    assert {"findings.py", "engine.py", "cache.py", "log-of-zero.md"} <= set(own)
    assert not any(name.endswith(".pyc") for name in own)


JUNK = st.recursive(
    st.none() | st.text(max_size=5), lambda one: st.lists(one) | st.dictionaries(st.text(max_size=3), one)
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=60) | JUNK.map(json.dumps).map(str.encode))
def test_a_spoilt_entry_is_no_entry(tmp_path, junk):
    cache = caches.Cache(str(tmp_path), ())
    Path(cache._entry("a.py", "a.py")).write_bytes(junk)
    assert cache.find("a.py", "a.py") is None


def test_a_spoilt_cache_is_made_anew(pretend, check, examined):
    (pretend / "a.py").write_text("old(1)\n")
    check()
    (entry,) = entries(pretend)
    for junk in ("", "{", "[]", '{"dependencies": [], "findings": [{}], "problem": null}', entry.read_text()[:-9]):
        entry.write_text(junk)
        assert len(check().findings) == 1
    assert examined() == ["a.py"] * 6
    check()
    assert examined() == []


def test_a_folder_that_cannot_be_written_is_done_without(pretend, check):
    (pretend / "a.py").write_text("old(1)\n")
    (pretend / ".sleuth").write_text("in the way")
    assert len(check().findings) == 1


def test_git_does_not_see_the_cache(pretend, check):
    (pretend / "a.py").write_text("old(1)\n")
    check()
    assert (pretend / ".sleuth" / ".gitignore").read_text() == "*\n"


def test_a_cache_may_move_with_its_project(pretend, check, examined, monkeypatch):
    (pretend / "a.py").write_text("import b\n")
    (pretend / "b.py").write_text("old(1)\n")
    check()
    examined()
    moved = pretend.parent / "moved"
    pretend.rename(moved)
    monkeypatch.chdir(moved)
    files = [str(moved / "a.py"), str(moved / "b.py")]
    assert len(runner.check(files, Request(cache=str(moved / ".sleuth" / "cache"))).findings) == 1
    assert examined() == []


def test_the_oldest_entries_go_when_there_are_too_many(pretend, check, monkeypatch):
    monkeypatch.setattr(caches, "_MOST_ENTRIES", 8)
    for number in range(8):
        (pretend / f"a{number}.py").write_text("old(1)\n")
    check()
    old = entries(pretend)
    for path in old:
        os.utime(path, (1, 1))
    stale = pretend / ".sleuth" / "cache" / "x.json.1.part"
    stale.touch()
    os.utime(stale, (1, 1))
    (pretend / "b.py").write_text("old(1)\n")
    check()
    left = entries(pretend)
    assert len(left) == 6
    assert len(set(left) - set(old)) == 1
    assert not stale.exists()


def test_an_entry_that_is_used_stays_young(pretend, check):
    (pretend / "a.py").write_text("old(1)\n")
    check()
    (entry,) = entries(pretend)
    os.utime(entry, (1, 1))
    check()
    assert time.time() - entry.stat().st_mtime < 60


def test_a_file_that_changes_while_it_is_examined_is_not_believed(pretend, check, examined, monkeypatch):
    (pretend / "a.py").write_text("import b\n")
    (pretend / "b.py").write_text("x = 1\n")
    examine = runner.engine.examine

    def meanwhile(unit, project, *, select):
        (pretend / "b.py").write_text("old(1)\n")
        return examine(unit, project, select=select)

    monkeypatch.setattr(runner.engine, "examine", meanwhile)
    check("a.py")
    monkeypatch.setattr(runner.engine, "examine", examine)
    (pretend / "b.py").write_text("x = 1\n")
    assert check("a.py").findings == ()


COMMAND = """\
import sys
from sleuth.source import cache, engine, runner
request = runner.Request(cache=sys.argv[1])
for turn in range(20):
    kept = cache.Cache(sys.argv[1], ())
    for path in sys.argv[2:]:
        kept.keep(path, path, engine.Examined((), (), "x" * 5000))
        found = kept.find(path, path)
        assert found is not None and found.problem == "x" * 5000, found
"""


def test_two_commands_at_once_do_not_hurt_each_other(tmp_path):
    files = [tmp_path / f"{number}.py" for number in range(20)]
    for file in files:
        file.write_text("x = 1\n")
    words = [sys.executable, "-c", COMMAND, str(tmp_path / ".sleuth" / "cache"), *map(str, files)]
    commands = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(3)]
    assert [(command.communicate()[1], command.returncode) for command in commands] == [(b"", 0)] * 3
    assert len(entries(tmp_path)) == 20
    assert not list((tmp_path / ".sleuth" / "cache").glob("*.part"))
