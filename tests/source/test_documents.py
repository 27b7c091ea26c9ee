"""Files as bytes, as text and back."""

from __future__ import annotations

import codecs
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.findings import Edit
from sleuth.source import documents
from sleuth.source.documents import Lines, Unreadable, from_bytes

ENCODINGS = [
    ("utf-8", b""),
    ("utf-8", codecs.BOM_UTF8),
    ("latin-1", b"# coding: latin-1\n"),
    ("cp1252", b"# coding: cp1252\r\n"),
]


@given(text=st.text("aäß €\n\r\f\t'\"=", max_size=40), how=st.sampled_from(ENCODINGS))
def test_a_file_is_given_back_byte_by_byte(text, how):
    encoding, start = how
    data = start + text.encode(encoding, "ignore")
    try:
        document = from_bytes(data, "/a.py", "a.py")
    except Unreadable:
        return
    assert document.data() == data
    assert "\r" not in document.text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(("encoding", "start"), ENCODINGS)
def test_an_edit_keeps_encoding_mark_and_line_ends(end, encoding, start):
    if end == "\r" and b"coding" in start:
        return  # Python itself takes the whole file for one line, and does not find the encoding.
    before, after = (f"x = 'ä'{end}{name}(1)".encode(encoding) for name in ("old", "new"))
    start = start.replace(b"\r\n", b"\n").replace(b"\n", end.encode())
    document = from_bytes(start + before, "/a.py", "a.py")
    line = document.text.split("\n").index("old(1)") + 1
    assert document.edited([Edit("a.py", line, 1, line, 4, "new")]).data() == start + after


def test_an_edit_that_breaks_the_file_is_not_made():
    document = from_bytes(b"# coding: latin-1\nx = 1\n", "/a.py", "a.py")
    assert document.edited([Edit("a.py", 2, 1, 2, 2, "(")]) is None
    assert document.edited([Edit("a.py", 2, 5, 2, 6, "'€'")]) is None
    assert document.edited([Edit("a.py", 9, 5, 9, 6, "")]) is None


def notebook(*sources, **options):
    cells = [{"cell_type": "code", "source": source} for source in sources]
    return json.dumps({"cells": cells, "nbformat": 4}, ensure_ascii=False, **options).encode()


def test_an_edit_of_a_notebook_changes_its_cell_alone():
    data = codecs.BOM_UTF8 + notebook(["a = 'ä'\n", "old(a)"], "!ls\nold(b)", indent=1) + b"\n"
    document = from_bytes(data, "/nb.ipynb", "nb.ipynb")
    after = document.edited([Edit("nb.ipynb:cell 2", 2, 1, 2, 4, "new"), Edit("nb.ipynb:cell 1", 2, 1, 2, 4, "new")])
    assert after.data() == data.replace(b"old", b"new")
    assert document.edited([Edit("nb.ipynb:cell 2", 2, 4, 2, 5, "")]) is None
    assert document.edited([Edit("nb.ipynb", 2, 4, 2, 5, "")]) is None
    assert document.edited([Edit("nb.ipynb:cell 7", 1, 1, 1, 1, "x")]) is None


def test_a_notebook_in_another_language_has_no_code():
    cells = [{"cell_type": "code", "source": "x <- old(1)"}]
    data = json.dumps({"cells": cells, "metadata": {"kernelspec": {"language": "R"}}}).encode()
    assert from_bytes(data, "/nb.ipynb", "nb.ipynb").text == ""


def test_lines_are_read_from_documents_at_hand_before_the_disk(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"one\r\ntwo")
    nb = tmp_path / "nb.ipynb"
    nb.write_bytes(notebook("x", "y\nz"))
    assert Lines().at(str(path), None, 2) == "two"
    assert Lines().at(str(nb), 2, 2) == "z"
    at_hand = Lines({str(path): from_bytes(b"three\nfour", str(path), "a.py")})
    assert at_hand.at(str(path), None, 2) == "four"
    assert at_hand.at(str(path), None, 3) == at_hand.at(str(path), None, 0) == at_hand.at("/nowhere.py", None, 1) == ""


def test_a_text_that_cannot_be_written_as_it_was_is_noticed(tmp_path):
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: utf-7\nx = '+AOQ-'\n")
    document = documents.read(str(path), "a.py")
    assert "ä" in document.text
    path.write_bytes(b"# coding: utf-7\nx = '+AOQ-' '+AGE-'\n")
    assert not documents.is_faithful(documents.read(str(path), "a.py"))
