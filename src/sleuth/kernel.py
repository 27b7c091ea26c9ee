"""The kernel of a running notebook: which cell some code came from, by the number beside it, and what that cell says.

A place in it is called `cell 3`: `[3]` is what a person sees beside the cell, and what IPython's own tracebacks say."""

from __future__ import annotations

import linecache
import re
import sys
from typing import Any

_CELL = re.compile(r"cell \d+")
# What IPython calls the third cell: `In[3]`, and in older versions the file of its code.
_NUMBER = re.compile(r"In ?\[(\d+)\]|ipython-input-(\d+)-")
_files: dict[str, str] = {}


def page() -> Any | None:
    """The shell of the notebook that this process is the kernel of: it can show pages. A terminal's cannot."""
    shell = _shell()
    return shell if hasattr(shell, "kernel") else None


def cell_of(filename: str) -> str | None:
    """`cell 3`, where this is how Python knows the code of a cell."""
    shell = _shell()
    found = None if shell is None else _NUMBER.search(_told_by(shell, filename) or filename)
    if found is None:
        return None
    name = f"cell {found[1] or found[2]}"
    _files[name] = filename
    return name


def is_cell(path: str) -> bool:
    return _CELL.fullmatch(path) is not None


def file_of(path: str) -> str | None:
    """How Python knows the code of a cell that was named here."""
    return _files.get(path)


def text_of(path: str) -> str | None:
    """What a cell that was named here says."""
    filename = _files.get(path)
    return None if filename is None else "".join(linecache.getlines(filename)) or None


def _shell() -> Any | None:
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return None if get is None else get()


def _told_by(shell: Any, filename: str) -> str | None:
    compiler = getattr(shell, "compile", None)
    told = getattr(compiler, "format_code_name", lambda name: None)(filename)
    if told is not None:
        return " ".join(told)
    # Before IPython could be asked, it knew already.
    number = getattr(compiler, "_filename_map", {}).get(filename)
    return None if number is None else f"In[{number}]"
