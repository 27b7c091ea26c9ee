"""Notebooks as files: reading their cells, and writing one back without touching anything else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth import notebook

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SOURCES = TEXT | TEXT.map(lambda text: text.splitlines(keepends=True))
CELLS = st.lists(
    st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["code", "markdown", "raw"]), "source": SOURCES},
        optional={
            "metadata": st.dictionaries(TEXT, TEXT, max_size=2),
            "outputs": st.lists(st.dictionaries(TEXT, TEXT | st.floats(allow_nan=False) | st.none()), max_size=2),
            "execution_count": st.none() | st.integers(),
        },
    ),
    max_size=4,
)
INDENTS = st.sampled_from([None, 0, 1, 2, "\t"])


def joined(source):
    return source if isinstance(source, str) else "".join(source)


@given(cells=CELLS, indent=INDENTS, ascii=st.booleans())
def test_the_code_cells_are_those_that_json_has(cells, indent, ascii):
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=indent, ensure_ascii=ascii)
    found = notebook.parse(text)
    wanted = [(n, joined(cell["source"])) for n, cell in enumerate(cells, 1) if cell["cell_type"] == "code"]
    assert [(cell.number, cell.text) for cell in found.cells] == wanted
    for cell in found.cells:
        assert json.loads(text[slice(*cell.span)]) == cells[cell.number - 1]["source"]


@given(cells=CELLS.filter(lambda cells: any(cell["cell_type"] == "code" for cell in cells)), indent=INDENTS, new=TEXT)
def test_a_cell_written_back_changes_nothing_else(cells, indent, new):
    text = (
        json.dumps({"cells": cells, "metadata": {"x": 1.50}, "nbformat": 4}, indent=indent, ensure_ascii=False) + "\n"
    )
    found = notebook.parse(text)
    cell = found.cells[0]
    after = found.with_text(cell.number, new)
    assert after.cell(cell.number).text == new
    start, end = cell.span
    assert after.json.startswith(text[:start])
    assert after.json.endswith(text[end:])
    assert isinstance(
        json.loads(after.json)["cells"][cell.number - 1]["source"], type(cells[cell.number - 1]["source"])
    )


@given(cells=CELLS, indent=INDENTS, ascii=st.booleans())
def test_a_cell_written_back_as_it_was_gives_the_same_file_where_jupyter_wrote_it(cells, indent, ascii):
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=indent, ensure_ascii=ascii)
    found = notebook.parse(text)
    for cell in found.cells:
        again = found.with_text(cell.number, cell.text)
        if cell.is_list or not ascii:
            assert again.json == text
        assert json.loads(again.json) == json.loads(text)


def test_a_line_that_stays_keeps_its_escapes():
    text = '{"cells": [{"cell_type": "code", "source": ["a = \'\\u00e4\'\\n", "b\\/c"]}], "nbformat": 4}'
    after = notebook.parse(text).with_text(1, "a = 'ä'\nb = 'ö'")
    assert after.json == text.replace('"b\\/c"', "\"b = '\\u00f6'\"")


def test_a_line_of_a_cell_is_found_in_the_file():
    cells = [{"cell_type": "markdown", "source": ["# x"]}, {"cell_type": "code", "source": ["a\n", "b\n", "c"]}]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    found = notebook.parse(text)
    lines = text.split("\n")
    assert [lines[found.line_in_file(2, n) - 1].strip() for n in (1, 2, 3)] == [r'"a\n",', r'"b\n",', '"c"']
    assert found.line_in_file(7, 1) == 1


@pytest.mark.parametrize("text", ["", "[]", "{", '{"nbformat": 4}', '{"cells": 3}', "[" * 100_000])
def test_what_is_no_notebook_is_refused(text):
    with pytest.raises(notebook.NotANotebook):
        notebook.parse(text)


@pytest.mark.parametrize("source", [3, None, [1], {"a": "b"}])
def test_a_cell_without_text_is_refused(source):
    with pytest.raises(notebook.NotANotebook):
        notebook.parse(json.dumps({"cells": [{"cell_type": "code", "source": source}]}))


def test_a_notebook_of_the_old_format_is_read():
    sheet = {"cells": [{"cell_type": "code", "input": ["x = 1"], "language": "python"}]}
    found = notebook.parse(json.dumps({"nbformat": 3, "worksheets": [sheet]}))
    assert [cell.text for cell in found.cells] == ["x = 1"]


@pytest.mark.parametrize(
    ("metadata", "python"),
    [
        ({}, True),
        (None, True),
        ({"kernelspec": {"language": "R"}}, False),
        ({"language_info": {"name": "julia"}}, False),
        ({"language_info": {"name": "Python"}, "kernelspec": {"language": "R"}}, True),
        ({"kernelspec": 3, "language_info": {"name": 1}}, True),
    ],
)
def test_the_language_is_python_unless_the_notebook_says_otherwise(metadata, python):
    assert notebook.parse(json.dumps({"cells": [], "metadata": metadata})).is_python is python


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a.ipynb:cell 3", ("a.ipynb", 3)),
        ("a.ipynb", ("a.ipynb", None)),
        ("a.py:cell 3", ("a.py:cell 3", None)),
        ("C:\\x y.ipynb:cell 12", ("C:\\x y.ipynb", 12)),
        ("a.ipynb:cell 0", ("a.ipynb:cell 0", None)),
    ],
)
def test_a_name_says_which_cell(path, parts):
    assert notebook.split_name(path) == parts
    if parts[1]:
        assert notebook.name_of(*parts) == path
