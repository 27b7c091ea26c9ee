"""Many files on several processes, whatever happens to one of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sleuth.findings import Place
from sleuth.source import runner
from sleuth.source.runner import Request


@pytest.fixture
def check(pretend, monkeypatch):
    """Examines the files of the project in processes, however little there is in them."""
    monkeypatch.setattr(runner, "_WORTH_PROCESSES", 0)
    monkeypatch.setattr(runner, "_A_TASK", 10)

    def check(jobs=2, **options):
        files = sorted(str(path) for kind in ("*.py", "*.ipynb") for path in pretend.rglob(kind))
        return runner.check(files, Request(jobs=jobs, **options))

    return check


def test_processes_find_what_one_alone_finds(pretend, check):
    for number in range(12):
        (pretend / f"a{number}.py").write_text(f"old({number})\nx = 1\nrisky({number})\n")
    alone, together = check(jobs=1), check(jobs=3)
    assert together.findings == alone.findings
    assert len(together.findings) == 24
    places = [finding.place for finding in together.findings]
    assert places == sorted(places, key=lambda place: (place.path, place.line))


def test_a_finding_that_two_files_lead_to_is_told_once(pretend, check):
    (pretend / "a.py").write_text("import c\n")
    (pretend / "b.py").write_text("import c\n")
    (pretend / "c.py").write_text("old(1)\n")
    (finding,) = check().findings
    assert finding.place == Place("c.py", 1, 1, 1, "old(1)")
    assert finding.chain[0].place.path == "c.py"
    assert finding.fixes[0].edits[0].path == "c.py"


def test_a_comment_silences_what_another_file_leads_to(pretend, check):
    (pretend / "a.py").write_text("import c\n")
    (pretend / "c.py").write_text("old(1)  # sleuth: ignore[old-call]\n")
    assert [finding.place.path for finding in check().findings] == ["c.py"]  # the pretend engine does not listen
    (pretend / "d.py").write_text("import c\n")
    files = [str(pretend / "d.py")]
    assert runner.check(files, Request()).findings == ()


def test_files_that_cannot_be_read_are_named_and_the_rest_is_checked(pretend, check):
    (pretend / "a.py").write_text("old(1)\n")
    (pretend / "b.py").write_text("x = (\n")
    (pretend / "c.py").write_bytes(b"x = 1\0")
    (pretend / "d.py").write_bytes(b"x = '\xff'\n")
    (pretend / "e.py").write_text("# coding: nonsense\n")
    (pretend / "f.py").write_text("# coding: hex\n")
    (pretend / "g.ipynb").write_text("{}")
    (pretend / "h.py").write_text("x = [\n" + "'a',\n" * 1_200_000 + "]\n")
    (pretend / "i.py").write_text("explode(1)\n")
    checked = check()
    assert [finding.place.path for finding in checked.findings] == ["a.py"]
    assert [problem.split(":")[0].split(" ")[0] for problem in checked.problems] == [
        f"{name}.py" if name != "g" else "g.ipynb" for name in "bcdefghi"
    ]
    assert "i.py could not be examined: KeyError inside Sleuth: 'a bug of ours'" in checked.problems
    assert not any("\n" in problem for problem in checked.problems)


def test_a_file_that_kills_its_process_does_not_take_the_others_along(pretend, check):
    for number in range(6):
        (pretend / f"a{number}.py").write_text("old(1)\n")
    (pretend / "a3.py").write_text("fatal(1)\n")
    checked = check()
    assert [finding.place.path for finding in checked.findings] == [f"a{n}.py" for n in (0, 1, 2, 4, 5)]
    assert checked.problems == ("a3.py could not be examined: the process that tried died",)


def test_a_file_that_goes_meanwhile_is_a_problem_and_no_more(pretend):
    checked = runner.check([str(pretend / "gone.py")], Request())
    assert checked.problems == ("gone.py: No such file or directory",)


def test_a_notebook_is_told_by_its_cells(pretend, check):
    cells = [{"cell_type": "code", "source": ["%time\n", "x = 1"]}, {"cell_type": "code", "source": "!ls\nold(x)"}]
    (pretend / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    (finding,) = check().findings
    assert finding.place == Place("nb.ipynb:cell 2", 2, 1, 2, "old(x)")
    assert finding.fixes[0].edits[0].path == "nb.ipynb:cell 2"


def test_cells_come_in_the_order_of_their_numbers(pretend, check):
    cells = [{"cell_type": "code", "source": "old(x)"} for _ in range(11)]
    (pretend / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert [f.place.path for f in check().findings] == [f"nb.ipynb:cell {number}" for number in range(1, 12)]


def test_a_bad_cell_is_named(pretend, check):
    cells = [{"cell_type": "code", "source": "x = 1"}, {"cell_type": "code", "source": "\nx = ("}]
    (pretend / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))
    assert check().problems == ("nb.ipynb:cell 2:2:5: syntax error: '(' was never closed",)


def test_progress_is_told(pretend, check):
    for number in range(5):
        (pretend / f"a{number}.py").write_text("x = 1\n")
    seen = []
    files = [str(path) for path in pretend.glob("*.py")]
    runner.check(files, Request(jobs=2), lambda done, total: seen.append((done, total)))
    assert seen == [(number, 5) for number in range(6)]


SLOW = """\
import sys, time
from sleuth.source import engine, runner
def slow(unit, project, *, select):
    open(unit.path + ".seen", "w").close()
    time.sleep(60)
engine.examine = slow
runner._WORTH_PROCESSES = 0
runner._A_TASK = 1
from sleuth.cli import main
sys.argv[0] = "sleuth"
sys.exit(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals as on a terminal")
def test_an_interrupt_ends_all_processes_at_once_and_quietly(tmp_path):
    for number in range(4):
        (tmp_path / f"a{number}.py").write_text("x = 1\n")
    words = [sys.executable, "-c", SLOW, "check", "--jobs", "2", "--no-cache"]
    command = subprocess.Popen(
        words, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 30
    while len(list(tmp_path.glob("*.seen"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    began = time.monotonic()
    os.killpg(command.pid, signal.SIGINT)
    out, error = command.communicate(timeout=30)
    assert (command.returncode, out, error) == (130, b"", b"")
    assert time.monotonic() - began < 15
    assert not [p for p in Path("/proc").glob("[0-9]*/stat") if _group(p) == command.pid]


def _group(stat):
    try:
        return int(stat.read_text().rpartition(")")[2].split()[2])
    except (OSError, ValueError, IndexError):
        return 0
