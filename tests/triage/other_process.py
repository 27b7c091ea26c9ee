"""Errors that are made to happen in a process of its own: a library is imported once, and none of it stays here."""

from __future__ import annotations

import json
import os
import subprocess
import sys

# What ends every such program: its table RAISED, and what Python would print of each error.
TELL = r"""
import json, sys, traceback
said = {}
for name, program in RAISED.items():
    try:
        program()
    except BaseException as error:
        said[name] = "".join(traceback.format_exception(error))
print(json.dumps(said), file=sys.stderr)
"""


def names_in(program: str) -> list[str]:
    """The names in its table RAISED: one a line."""
    return [line.split('"')[1] for line in program.splitlines() if line.startswith('    "') and '": ' in line]


def errors_of(program: str, **environment: str) -> dict[str, str]:
    """The traceback of every error in its table RAISED, by name."""
    done = subprocess.run(
        [sys.executable, "-c", program + TELL],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, str] = json.loads(done.stderr.splitlines()[-1])
    return result
