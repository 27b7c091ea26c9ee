"""Edits made to a text, and the diff that shows them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.findings import Edit
from sleuth.report import edits


@given(text=st.text("ab\n", max_size=30), data=st.data())
def test_an_edit_changes_its_stretch_and_nothing_else(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    positions = [(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) for at in (start, end)]
    edit = Edit("a.py", *positions[0], *positions[1], "NEW")
    assert edits.apply(text, [edit]) == text[:start] + "NEW" + text[end:]


def test_insertions_at_one_place_keep_their_order() -> None:
    assert edits.apply("ab", [Edit("a.py", 1, 2, 1, 2, "1"), Edit("a.py", 1, 2, 1, 2, "2")]) == "a12b"


@pytest.mark.parametrize(
    "wrong",
    [
        [Edit("a.py", 9, 1, 9, 1, "x")],
        [Edit("a.py", 1, 9, 1, 9, "x")],
        [Edit("a.py", 1, 3, 1, 2, "x")],
        [Edit("a.py", 1, 1, 1, 3, "x"), Edit("a.py", 1, 2, 1, 3, "y")],
    ],
)
def test_edits_that_do_not_fit_are_not_made(wrong: list[Edit]) -> None:
    assert edits.apply("abc\n", wrong) is None


def test_a_fix_in_two_files_is_one_diff(project: Path) -> None:
    changes = [Edit("train.py", 1, 1, 1, 13, "import numpy"), Edit("model.py", 1, 1, 2, 1, "")]
    shown = edits.diff(changes, project)
    assert shown is not None
    assert [line for line in shown if line[0] in "+-"] == [
        "--- train.py",
        "+++ train.py",
        "-import torch",
        "+import numpy",
        "--- model.py",
        "+++ model.py",
        "-import torch",
    ]
