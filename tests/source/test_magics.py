"""IPython's own lines become Python, held against what IPython itself makes of them."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from sleuth.source.magics import as_python

LINES = [
    "x = 1",
    "%matplotlib inline",
    "!pip install torch",
    "    !ls {x}",
    "%time loss.backward()",
    "%timeit -n 10 -r 3 f(x)",
    "%timeit -n10 f(x)",
    "files = !ls *.py",
    "a, b = %magic c",
    "self.x = !ls",
    "torch.nn?",
    "?torch",
    "f??",
    "%pinfo f",
    "if x:\n    pass",
    "for y in x:\n    %cd ..\n    z = !ls",
    "y = (1\n     % 2)",
    "z = 5 \\\n  % 3",
    's = """\n%not a magic\n!not a command"""',
    "t = 'it is # not a comment ('",
    "# !comment ( [",
    "print(f'{x!r}')",
    "d = {'%': 1}",
    "!echo (",
    "!echo \\\n  more",
    "",
    "/f x",
    ", f a b",
    "x %= 2",
    "y = x %2",
    "y = x != 1",
]


def parses(text):
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def as_ipython(cell):
    manager = TransformerManager()
    try:
        return manager.transform_cell(cell)
    except SyntaxError:
        return "("


@given(st.lists(st.sampled_from(LINES), max_size=7).map("\n".join))
def test_a_cell_that_ipython_runs_is_python_afterwards(cell):
    python = as_python(cell)
    assert python.count("\n") == cell.count("\n")
    if parses(as_ipython(cell)):
        assert parses(python), python


@given(st.text("ab=()[]{}'\"\\%!?#\n \t,;/:", max_size=40))
def test_no_text_is_too_odd(cell):
    assert as_python(cell).count("\n") == cell.count("\n")


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1 % 2\ny != 3", "x = 1 % 2\ny != 3"),
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("if x:\n    !ls", "if x:\n    pass"),
        ("%time loss.backward()", "pass; loss.backward()"),
        ("  x\n  y = 1", "x\ny = 1"),
        ("%timeit -n 10 f(x)", "pass;         f(x)"),
        ("%time for x in y: pass", "pass"),
        ("files = !ls\nlen(files)", "files = get_ipython()\nlen(files)"),
        ("%%time\nx = 1", "\nx = 1"),
        ("\n%%bash\nls (\n", "\n\n\n"),
        ("%%javascript\nvar x = 1", "\n"),
        ("!ls \\\n  -l\nx", "pass\n\nx"),
        ("f?  # what", "pass"),
        ("x = (1\n% 2)\n!ls", "x = (1\n% 2)\npass"),
    ],
)
def test_lines_for_ipython_are_replaced_in_place(cell, python):
    assert as_python(cell) == python


def test_a_statement_behind_a_magic_keeps_its_column():
    cell = "%timeit -r 3 f(x)"
    assert as_python(cell).index("f(x)") == cell.index("f(x)")
