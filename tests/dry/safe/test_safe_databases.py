"""A database that is only read is read, and listed nowhere; one that is changed is, and stays as it was."""

from __future__ import annotations

import dbm
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Rehearse = Callable[..., Any]


def made(path: Path, log: bool = False) -> None:
    with closing(sqlite3.connect(path)) as base:
        if log:
            base.execute("pragma journal_mode = wal")
        base.execute("create table runs (name)")
        base.execute("insert into runs values ('first')")
        base.commit()


@pytest.mark.parametrize("log", [False, True], ids=["journal", "log"])
@pytest.mark.parametrize(
    "name", ['"runs.db"', '"file:runs.db?mode=ro", uri=True', '"file:runs.db?immutable=1", uri=True']
)
def test_a_database_that_is_only_read_is_not_listed(rehearse: Rehearse, home: Path, name: str, log: bool) -> None:
    made(home / "runs.db", log)
    seen = rehearse(
        f"""
        import sqlite3
        for _ in range(2):
            base = sqlite3.connect({name})
            assert base.execute("select name from runs").fetchall() == [("first",)]
        """
    )
    assert seen.kept("write") == []


def test_one_that_is_changed_is_listed_once(rehearse: Rehearse, home: Path) -> None:
    made(home / "runs.db")
    seen = rehearse(
        """
        import sqlite3
        for number in range(2):
            base = sqlite3.connect("runs.db")
            base.execute("insert into runs values ('more')")
            base.commit()
            assert len(base.execute("select name from runs").fetchall()) == number + 2
            base.close()
        """
    )
    assert seen.kept("write") == ["runs.db"]


def test_one_that_is_there_to_be_read_is_opened_as_it_would_be(rehearse: Rehearse, home: Path) -> None:
    made(home / "runs.db")
    os.chmod(home / "runs.db", 0o444)
    seen = rehearse("import sqlite3\nassert sqlite3.connect('runs.db').execute('select * from runs').fetchall()\n")
    assert seen.kept("write") == []


def test_shelves_are_told_by_what_is_done_with_them(rehearse: Rehearse, home: Path) -> None:
    with dbm.open(str(home / "shelf"), "n") as shelf:
        shelf[b"a"] = b"1"
    read = "import dbm\nwith dbm.open('shelf', {flag!r}) as shelf:\n    assert shelf[b'a'] == b'1'\n"
    assert rehearse(read.format(flag="r")).kept("write") == []
    assert rehearse(read.format(flag="c") + "    shelf[b'b'] = b'2'\n").kept("write")
