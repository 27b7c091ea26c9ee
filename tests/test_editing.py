"""Edits made to texts with all kinds of line ends."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sleuth import editing
from sleuth.findings import Edit

ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@given(lines=st.lists(st.text("ab\f\u2028", max_size=4), min_size=1, max_size=6), end=ENDS, data=st.data())
def test_an_edit_finds_its_line_whatever_the_line_ends_are(lines, end, data):
    number = data.draw(st.integers(0, len(lines) - 1))
    edit = Edit("a.py", number + 1, 1, number + 1, len(lines[number]) + 1, "NEW")
    changed = [*lines[:number], "NEW", *lines[number + 1 :]]
    assert editing.apply(end.join(lines), [edit]) == end.join(changed)


@given(end=ENDS)
def test_new_lines_get_the_line_end_of_the_text(end):
    text = f"a{end}b{end}"
    assert editing.apply(text, [Edit("a.py", 2, 1, 2, 1, "x\ny\n")]) == f"a{end}x{end}y{end}b{end}"


def test_line_ends_that_differ_stay_as_they_are():
    text = "a\r\nb\nc\r\nd\r"
    assert editing.apply(text, [Edit("a.py", 2, 1, 2, 2, "B\n")]) == "a\r\nB\r\n\nc\r\nd\r"


def test_a_whole_line_can_be_removed():
    assert editing.apply("a\r\nb\r\nc", [Edit("a.py", 2, 1, 3, 1, "")]) == "a\r\nc"


@given(st.text("ab\r\n", max_size=20))
def test_plain_line_ends_are_what_python_reads(text):
    import io

    assert editing.with_plain_ends(text) == io.StringIO(text, newline=None).read()
