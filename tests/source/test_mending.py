"""Fixes made to real files: all that can be, none that breaks anything, the same whether once or twice."""

from __future__ import annotations

import ast
import json
import os
import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleuth.source import documents
from sleuth.source.checkup import Plan, check
from sleuth.source.mending import CannotWrite, save


def mended(*paths, **options):
    """What the files would be after --fix, and what there is to tell."""
    outcome = check(Plan(paths=paths or (".",), mend=True, **options))
    for path, document in outcome.after.items():
        save(document, outcome.before[path])
    return outcome


def test_safe_fixes_are_made_and_nothing_else_changes(pretend):
    (pretend / "a.py").write_text("x = 1   # a comment\n\n\ny = [old(x),\n   risky( x )]  # another\n")
    outcome = mended()
    assert (pretend / "a.py").read_text() == "x = 1   # a comment\n\n\ny = [new(x),\n   risky( x )]  # another\n"
    assert len(outcome.made) == 1
    assert [finding.diagnosis for finding in outcome.left] == ["risky-call"]
    assert [finding.diagnosis for finding in outcome.findings] == ["old-call", "risky-call"]


def test_the_others_are_made_on_request(pretend):
    (pretend / "a.py").write_text("old(risky(1))\n")
    assert len(mended(unsafe=True).made) == 2
    assert (pretend / "a.py").read_text() == "new(calm(1))\n"


def test_fixes_that_overlap_are_made_in_later_rounds(pretend):
    (pretend / "a.py").write_text("wrapped(wrapped(old(wrapped(1))))\n")
    assert len(mended().made) == 4
    assert (pretend / "a.py").read_text() == "unwrapped(unwrapped(new(unwrapped(1))))\n"


def test_a_fix_that_would_break_the_file_is_dropped_and_said(pretend):
    (pretend / "a.py").write_text("old(1)\nspoilt(2)\nold(3)\n")
    outcome = mended()
    assert (pretend / "a.py").read_text() == "new(1)\nspoilt(2)\nnew(3)\n"
    assert outcome.given_up == (
        "a.py:2: spoilt-call was not fixed: 'write new(' would leave a file that Python cannot read",
    )


def test_a_fix_that_does_not_help_is_not_made(pretend):
    (pretend / "a.py").write_text("old(1)\n")
    (pretend / "b.py").write_text("swinging(2)\nold(3)\n")
    outcome = mended()
    assert (pretend / "a.py").read_text() == "new(1)\n"
    assert (pretend / "b.py").read_text() == "swinging(2)\nnew(3)\n"
    assert outcome.given_up == ("b.py:1: swinging-call was not fixed: 'write swung' did not help",)


def test_what_one_file_leads_to_in_another_is_mended_where_it_is(pretend):
    (pretend / "a.py").write_text("import b\n")
    (pretend / "b.py").write_text("old(1)\n")
    assert mended("a.py").made == ()  # b.py was not named
    assert (pretend / "b.py").read_text() == "old(1)\n"
    outcome = mended("a.py", "b.py")
    assert (pretend / "b.py").read_text() == "new(1)\n"
    assert outcome.left == ()


LINES = st.sampled_from(
    [
        "old(1)",
        "x = old(old(2))",
        "wrapped(old(3))",
        "risky(wrapped(4))",
        "spoilt(5)",
        "swinging(6)",
        "stubborn(7)",
        "advice(8)",
        "# old(9)",
        "s = 'ä' + old(10)",
        "if x:\n    old(\n        wrapped(11),\n    )",
        "",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    lines=st.lists(LINES, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    mark=st.booleans(),
    unsafe=st.booleans(),
)
def test_mended_files_parse_and_stay_as_they_are_the_second_time(pretend, lines, end, last, mark, unsafe):
    text = "\n".join(lines).replace("\n", end) + end * last
    data = b"\xef\xbb\xbf" * mark + text.encode()
    (pretend / "a.py").write_bytes(data)
    first = mended(unsafe=unsafe)
    once = (pretend / "a.py").read_bytes()
    ast.parse(once)
    assert once.startswith(b"\xef\xbb\xbf") is mark
    assert once.count(b"\r\n") == data.count(b"\r\n")
    assert once.count(b"\n") == data.count(b"\n")
    second = mended(unsafe=unsafe)
    assert (pretend / "a.py").read_bytes() == once
    assert second.made == ()
    assert [(f.diagnosis, f.place) for f in second.left] == [(f.diagnosis, f.place) for f in first.left]
    assert not list(pretend.glob(".*.part"))


def test_a_notebook_is_mended_in_its_cells(pretend):
    cells = [
        {"cell_type": "markdown", "source": ["old(1)"]},
        {"cell_type": "code", "execution_count": None, "outputs": [{"x": 1.0}], "source": ["%time old(1)\n", "old(2)"]},
    ]
    text = json.dumps({"cells": cells, "metadata": {"ä": 1}, "nbformat": 4}, indent=1, ensure_ascii=False) + "\n"
    (pretend / "nb.ipynb").write_text(text, encoding="utf-8")
    mended()
    assert (pretend / "nb.ipynb").read_text(encoding="utf-8") == text.replace('"old(2)"', '"new(2)"')


def test_modes_and_links_are_kept(pretend):
    (pretend / "real").mkdir()
    target = pretend / "real" / "a.py"
    target.write_text("#!/usr/bin/env python\nold(1)\n")
    target.chmod(0o751)
    os.symlink("real/a.py", pretend / "link.py")
    mended("link.py")
    assert target.read_text() == "#!/usr/bin/env python\nnew(1)\n"
    assert (pretend / "link.py").is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o751


def test_a_file_that_changed_meanwhile_is_not_overwritten(pretend):
    (pretend / "a.py").write_text("old(1)\n")
    outcome = check(Plan(mend=True))
    (pretend / "a.py").write_text("old(1)\nprint()\n")
    ((path, after),) = outcome.after.items()
    with pytest.raises(CannotWrite, match=r"^a.py was not written: it has changed meanwhile$"):
        save(after, outcome.before[path])
    assert (pretend / "a.py").read_text() == "old(1)\nprint()\n"


def test_a_folder_that_cannot_be_written_is_one_clear_line(pretend, monkeypatch):
    (pretend / "a.py").write_text("old(1)\n")
    outcome = check(Plan(mend=True))
    ((path, after),) = outcome.after.items()

    def refuse(*names):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(CannotWrite, match=r"^a.py was not written: Read-only file system$"):
        save(after, outcome.before[path])
    assert [file.name for file in pretend.iterdir()] == ["a.py"]
    assert documents.read(path, "a.py").text == "old(1)\n"


def test_a_strange_encoding_is_left_alone(pretend):
    data = b"# coding: utf-7\nx = '+AOQ-' '+AGE-'\nold(1)\n"
    (pretend / "a.py").write_bytes(data)
    outcome = mended()
    assert (pretend / "a.py").read_bytes() == data
    assert len(outcome.left) == 1
