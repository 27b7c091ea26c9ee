"""Old findings are known by what they say, not by where they stand."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.source import baseline
from sleuth.source.baseline import BadBaseline, Baseline
from sleuth.source.checkup import Plan, check
from sleuth.source.documents import Lines

FILE = "known.json"


def accept(*paths, old=None):
    outcome = check(Plan(paths=paths or (".",)))
    text = (old or Baseline(FILE)).with_findings(outcome.everything, outcome.files, Lines())
    with open(FILE, "w", encoding="utf-8") as file:
        file.write(text)
    return text


def new(*paths, **options):
    outcome = check(Plan(paths=paths or (".",), baseline=baseline.load(FILE), **options))
    return [(finding.diagnosis, finding.place.path, finding.place.line) for finding in outcome.left]


def test_what_is_known_is_not_told_again(pretend):
    (pretend / "a.py").write_text("old(1)\nrisky(2)\nadvice(3)\n")
    accept()
    assert new() == []
    assert new(hints=True) == []


def test_a_line_that_moved_is_still_known_and_a_new_one_is_not(pretend):
    (pretend / "a.py").write_text("def f():\n    old( 1 )\n")
    accept()
    (pretend / "a.py").write_text("import x\n\ndef f():\n  if x:\n        old( 1 )\n        old(2)\n")
    assert new() == [("old-call", "a.py", 6)]


def test_one_more_of_the_same_is_new(pretend):
    (pretend / "a.py").write_text("old(1)\nold(1)\n")
    accept()
    (pretend / "a.py").write_text("old(1)\nold(1)\nold(1)\n")
    assert len(new()) == 1
    (pretend / "b.py").write_text("old(1)\n")
    assert len(new()) == 2


def test_what_was_known_is_not_mended(pretend):
    (pretend / "a.py").write_text("old(1)\n")
    accept()
    (pretend / "a.py").write_text("old(2)\nold(1)\nwrapped(old(3))\n")
    outcome = check(Plan(baseline=baseline.load(FILE), mend=True))
    ((_, after),) = outcome.after.items()
    assert after.text == "new(2)\nold(1)\nunwrapped(new(3))\n"


def test_a_notebook_may_gain_cells(pretend):
    def write(*sources):
        cells = [{"cell_type": "code", "source": source} for source in sources]
        (pretend / "nb.ipynb").write_text(json.dumps({"cells": cells, "nbformat": 4}))

    write("old(1)")
    accept()
    write("x = 1", "old(1)", "old(2)")
    assert new() == [("old-call", "nb.ipynb:cell 3", 1)]


def test_paths_start_at_the_baseline(pretend, monkeypatch):
    (pretend / "sub").mkdir()
    (pretend / "sub" / "a.py").write_text("old(1)\n")
    assert json.loads(accept())["findings"] == [
        {"diagnosis": "old-call", "path": "sub/a.py", "line": "old(1)", "count": 1}
    ]
    monkeypatch.chdir(pretend / "sub")
    outcome = check(Plan(baseline=baseline.load("../known.json")))
    assert outcome.left == ()
    assert outcome.known == 1


def test_files_that_were_not_checked_keep_their_entries_while_they_exist(pretend):
    for name in ("a.py", "b.py", "c.py"):
        (pretend / name).write_text("old(1)\n")
    accept()
    (pretend / "a.py").write_text("x = 1\n")
    (pretend / "c.py").unlink()
    text = accept("a.py", old=baseline.load(FILE))
    assert [known["path"] for known in json.loads(text)["findings"]] == ["b.py"]


def test_the_file_is_the_same_whatever_the_order(pretend):
    (pretend / "b.py").write_text("old(1)\nrisky(1)")
    (pretend / "a.py").write_text("old(2)")
    assert accept("a.py", "b.py") == accept("b.py", "a.py")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "known.json is not a baseline: it is not valid JSON"),
        ("[]", "known.json is not a baseline that this version reads: it has no schema 1"),
        ('{"schema": 2}', "known.json is not a baseline that this version reads: it has no schema 1"),
        ('{"schema": 1}', "known.json is not a baseline: its findings are not as --write-baseline writes them"),
    ],
)
def test_a_file_that_is_no_baseline_is_one_clear_line(pretend, text, message):
    (pretend / FILE).write_text(text)
    with pytest.raises(BadBaseline) as refused:
        baseline.load(FILE)
    assert str(refused.value) == message
    (pretend / FILE).unlink()
    with pytest.raises(BadBaseline, match="no such baseline; --write-baseline makes it"):
        baseline.load(FILE)


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda one: (
        st.lists(one, max_size=3) | st.dictionaries(st.sampled_from(["schema", "findings", "path", "count"]), one)
    ),
)


@given(findings=JSON)
def test_no_baseline_is_too_odd(tmp_path_factory, findings):
    path = tmp_path_factory.getbasetemp() / "odd.json"
    path.write_text(json.dumps({"schema": 1, "findings": findings}))
    with contextlib.suppress(BadBaseline):
        baseline.load(str(path))
