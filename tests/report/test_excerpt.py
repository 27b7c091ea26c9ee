"""Finding the user's code again in the user's file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.findings import Place
from sleuth.report import excerpt


@given(text=st.text("ab (\n", max_size=40).filter(str.strip), data=st.data())
def test_code_is_located_where_it_was_taken_from(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1).filter(lambda at: not text[at].isspace()))
    end = data.draw(st.integers(start + 1, len(text)).filter(lambda at: not text[at - 1].isspace()))
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    found = excerpt.locate(Place("a.py", line, column, None, text[start:end]), text)
    assert found is not None
    assert (found.line, found.column) == (line, column)
    assert (found.end_line, found.end_column) == (text.count("\n", 0, end) + 1, end - text.rfind("\n", 0, end))


def test_code_is_found_although_its_lines_were_joined() -> None:
    source = "y = f(\n    a,\n    b,\n)\n"
    assert excerpt.locate(Place("a.py", 1, 5, 4, "f( a, b, )"), source) == excerpt.Span(1, 5, 4, 2)


def test_of_two_alike_the_nearer_to_the_column_is_meant() -> None:
    assert excerpt.locate(Place("a.py", 1, 9, 1, "log(x)"), "log(x)+ log(x)") == excerpt.Span(1, 9, 1, 15)


def test_code_that_is_no_longer_on_its_line_is_not_located() -> None:
    assert excerpt.locate(Place("a.py", 1, 1, 1, "log(x)"), "\nlog(x)\n") is None
    assert excerpt.locate(Place("a.py", 7, 1), "\n") is None


def test_a_file_is_read_in_the_encoding_it_declares(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("# coding: latin-1\ng = 'ß'\f\n".encode("latin-1"))
    assert excerpt.read("a.py", tmp_path) == "# coding: latin-1\ng = 'ß'\f\n"


@pytest.mark.parametrize("content", [b"# coding: nonsense\n", b"\xff\xfe\x00"])
def test_what_cannot_be_read_is_no_text(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.py").write_bytes(content)
    assert excerpt.read("a.py", tmp_path) is None
    assert excerpt.read("", tmp_path) is None
    assert excerpt.read("nul\0.py", tmp_path) is None
