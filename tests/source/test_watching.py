"""Waiting for files to change."""

from __future__ import annotations

import os
import threading
import time

import pytest

from sleuth.source import watching


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(watching, "_SECONDS", 0.01)


@pytest.mark.parametrize("event", ["written", "appeared", "gone", "replaced", "another"])
def test_every_kind_of_change_is_noticed(tmp_path, event):
    watched, other = tmp_path / "a.py", tmp_path / "other"
    watched.write_text("1")
    other.write_text("1")
    turns = watching.changes(lambda: [str(path) for path in tmp_path.glob("*.py")], lambda: [str(other)])
    next(turns)

    def change():
        time.sleep(0.1)
        if event == "written":
            watched.write_text("22")
        elif event == "appeared":
            (tmp_path / "b.py").touch()
        elif event == "gone":
            watched.unlink()
        elif event == "replaced":
            (tmp_path / "new").write_text("1")
            os.replace(tmp_path / "new", watched)
        else:
            other.write_text("22")

    thread = threading.Thread(target=change)
    began = time.monotonic()
    thread.start()
    next(turns)
    thread.join()
    assert time.monotonic() - began >= 0.1


def test_a_change_during_a_turn_is_not_missed(tmp_path):
    watched = tmp_path / "a.py"
    watched.write_text("1")
    turns = watching.changes(lambda: [str(watched)], lambda: [])
    next(turns)
    watched.write_text("22")
    next(turns)
