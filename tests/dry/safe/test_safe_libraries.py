"""Libraries that people train with write, read and are imported as ever, and leave nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

Rehearse = Callable[..., Any]


def test_tensorboard_writes_its_events_to_the_scratch_folder(rehearse: Rehearse) -> None:
    pytest.importorskip("tensorboard")
    seen = rehearse(
        """
        import os
        from torch.utils.tensorboard import SummaryWriter
        writer = SummaryWriter()
        writer.add_scalar("loss", 1.0, 0)
        writer.close()
        assert len(os.listdir("runs")) == 1
        """
    )
    assert [what[:5] for what in seen.kept("write")] == ["runs/"]


def test_matplotlib_shows_no_window_and_saves_to_the_scratch_folder(rehearse: Rehearse) -> None:
    pytest.importorskip("matplotlib")
    seen = rehearse(
        """
        import matplotlib.pyplot as plt
        plt.plot([1, 2])
        plt.savefig("curve.png")
        plt.show()
        """
    )
    assert "curve.png" in seen.kept("write")


def test_a_profile_is_written_to_the_scratch_folder(rehearse: Rehearse) -> None:
    rehearse(
        """
        import os, torch
        with torch.autograd.profiler.profile() as profile:
            torch.ones(2) + 1
        profile.export_chrome_trace("trace.json")
        assert os.path.getsize("trace.json") > 0
        """
    )


def test_a_library_that_opens_files_by_itself_is_led_to_the_right_layer(rehearse: Rehearse, home: Path) -> None:
    (home / "base").mkdir()
    (home / "base" / "data").write_text("old")
    # As lmdb does, behind Python's back.
    (home / "lmdb.py").write_text(
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None)\n"
        "def open(path, readonly=False, lock=True):\n"
        "    descriptor = libc.open(os.path.join(path, 'data').encode(), os.O_RDONLY if readonly else os.O_RDWR)\n"
        "    assert descriptor >= 0 and not (readonly and lock)\n"
        "    return descriptor\n"
    )
    seen = rehearse(
        """
        import lmdb, os
        assert os.read(lmdb.open("base", readonly=True), 9) == b"old"
        os.write(lmdb.open("base"), b"new")
        assert os.read(lmdb.open(path="base", readonly=True), 9) == b"new"
        assert open("base/data").read() == "new"
        """
    )
    assert seen.kept("write") == ["base"]


def test_a_class_in_disguise_is_still_good_for_isinstance(rehearse: Rehearse) -> None:
    rehearse(
        """
        import copy, pickle, os
        from sleuth.dry.safe.everywhere import Stand
        stand = Stand(lambda: 1, dict)
        assert isinstance({}, stand) and stand.fromkeys("a") == {"a": None}
        assert copy.deepcopy(os.stat) is os.stat and pickle.loads(pickle.dumps([open, os.stat])) == [open, os.stat]
        """
    )


def test_everything_is_put_back_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import os
    import pathlib
    import shutil
    import socket
    import subprocess
    import tempfile

    from sleuth.dry.journal import Journal
    from sleuth.dry.safe import guard
    from sleuth.frameworks.patches import Patches

    (tmp_path / "scratch").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")

    class Stage:
        scratch = tmp_path / "scratch"
        journal = Journal(tmp_path / "scratch" / "journal")
        patches = Patches()
        at_end: ClassVar[list[Callable[[], None]]] = []

    owners = (os, builtins, shutil, socket, socket.socket, subprocess.Popen, tempfile, pathlib.Path)
    before = [dict(vars(owner)) for owner in owners]
    environment = dict(os.environ)
    guard.install(Stage())  # type: ignore[arg-type]
    try:
        pathlib.Path("inside").write_text("x")
        os.mkdir("folder")
        os.chdir("folder")
    finally:
        Stage.patches.undo()
    assert [dict(vars(owner)) for owner in owners] == before
    assert dict(os.environ) == environment
    assert os.listdir(".") == []
    pathlib.Path("outside").write_text("x")
    assert os.listdir(tmp_path / "home") == ["outside"]
    assert subprocess.run(["true"], check=True).returncode == 0
