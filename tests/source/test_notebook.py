"""Notebooks as one text, and the way back into the cells."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth import editing, notebook
from sleuth.findings import Edit, Finding, Fix, Link, Place
from sleuth.source.notebook import join

LINES = st.sampled_from(["x = 1", "%time x", "", "# note", "y = f(\n    x)", "!ls", "f(x)", "for a in x:\n    f(a)"])
CELLS = st.lists(st.lists(LINES, max_size=4).map("\n".join), max_size=4)


def made(*sources, kind="code"):
    cells = [{"cell_type": "markdown", "source": "# a title"}]
    cells += [{"cell_type": kind, "source": source} for source in sources]
    return notebook.parse(json.dumps({"cells": cells, "nbformat": 4}, indent=1))


def finding(place, *fixes, chain=()):
    kinds = ("certain", "error", "implementation", "api-misuse", "model-training", "crash")
    return Finding("old-call", "old", *kinds, place, chain=chain, fixes=fixes)


@given(CELLS)
def test_every_line_knows_its_cell(sources):
    joined = join(made(*sources))
    for number, (cell, line) in enumerate(joined.origin, 1):
        written = sources[cell - 2].split("\n")[line - 1]
        read = joined.text.split("\n")[number - 1]
        assert read == written or number in joined.replaced
    assert len(joined.origin) == sum(source.count("\n") + 1 for source in sources)


@given(CELLS)
def test_cells_end_where_their_last_statement_does(sources):
    joined = join(made(*sources))
    ends = {statement.end_lineno for statement in ast.parse(joined.text).body}
    for cell in range(2, len(sources) + 2):
        lines = [number for number, (one, _) in enumerate(joined.origin, 1) if one == cell]
        of_cell = [end for end in ends if end in lines]
        if of_cell:
            assert max(of_cell) in joined.cell_ends


def test_line_ends_inside_cells_do_not_matter():
    assert join(made("a\r\nb", "c")).text == "a\nb\nc\n"


def test_a_finding_is_told_by_cell():
    joined = join(made("a = 1\nb = 2", "old(a)\nold(b)"))
    place = Place("nb.ipynb", 4, 1, 4, "old(b)")
    elsewhere = Place("other.py", 4, 1)
    (told,) = joined.in_cells(
        [finding(place, chain=(Link("x", Place("nb.ipynb", 1, 1)), Link("y", elsewhere)))], "nb.ipynb"
    )
    assert told.place == Place("nb.ipynb:cell 3", 2, 1, 2, "old(b)")
    assert [link.place for link in told.chain] == [Place("nb.ipynb:cell 2", 1, 1), elsewhere]


def test_a_problem_is_told_by_cell():
    joined = join(made("a = 1", "b = ("))
    assert joined.problem_in_cell("nb.ipynb:2:5: syntax error: x", "nb.ipynb") == "nb.ipynb:cell 3:1:5: syntax error: x"
    assert joined.problem_in_cell("something else", "nb.ipynb") == "something else"


@given(sources=CELLS.filter(bool), data=st.data())
def test_an_edit_in_cells_does_what_it_does_in_the_text(sources, data):
    """Where it is possible at all: within a cell, and not in a line that stands for another."""
    joined = join(made(*sources))
    lines = joined.text.split("\n")[:-1]
    line = data.draw(st.integers(1, len(lines)))
    end_line = data.draw(st.integers(line, min(line + 2, len(lines))))
    column = data.draw(st.integers(1, len(lines[line - 1]) + 1))
    end_column = data.draw(st.integers(column if end_line == line else 1, len(lines[end_line - 1]) + 1))
    edit = Edit("nb.ipynb", line, column, end_line, end_column, "NEW")
    (told,) = joined.in_cells([finding(Place("nb.ipynb", line), Fix("x", (edit,)))], "nb.ipynb")
    if not told.fixes[0].edits:
        return
    (inside,) = told.fixes[0].edits
    _, number = notebook.split_name(inside.path)
    changed = [*sources]
    changed[number - 2] = editing.apply(sources[number - 2], [inside])
    if not joined.replaced:
        assert "\n".join(changed).replace("\n", "") == editing.apply("\n".join(lines), [edit]).replace("\n", "")


@pytest.mark.parametrize(
    ("sources", "edit", "after"),
    [
        (["a\nb", "c"], (2, 1, 3, 1, ""), ["a", "c"]),
        (["a\nb", "c"], (1, 1, 2, 1, ""), ["b", "c"]),
        (["a", "c"], (1, 1, 2, 1, ""), ["", "c"]),
        (["a\nb", "c"], (3, 1, 4, 1, ""), ["a\nb", ""]),
        (["a\nb", "c"], (2, 1, 3, 1, "x\ny\n"), ["a\nx\ny", "c"]),
        (["a", "c"], (2, 1, 2, 1, "x\n"), ["a", "x\nc"]),
    ],
)
def test_whole_lines_can_be_taken_out_of_a_cell(sources, edit, after):
    joined = join(made(*sources))
    fix = Fix("x", (Edit("nb.ipynb", *edit),))
    (told,) = joined.in_cells([finding(Place("nb.ipynb", 1), fix)], "nb.ipynb")
    (inside,) = told.fixes[0].edits
    number = notebook.split_name(inside.path)[1]
    sources[number - 2] = editing.apply(sources[number - 2], [inside])
    assert sources == after


def test_an_edit_across_cells_or_in_a_magic_is_only_told():
    joined = join(made("a = 1\nb", "!ls\nc"))
    for edit in (
        Edit("nb.ipynb", 2, 1, 4, 1, "x"),
        Edit("nb.ipynb", 3, 1, 3, 2, "x"),
        Edit("nb.ipynb", 9, 1, 9, 1, "x"),
    ):
        (told,) = joined.in_cells([finding(Place("nb.ipynb", 1), Fix("do it", (edit,)))], "nb.ipynb")
        assert told.fixes == (Fix("do it"),)
