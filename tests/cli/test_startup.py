"""Help and handbook start at once: nothing heavy is imported on the way. (How fast: benchmarks/startup.py.)"""

from __future__ import annotations

import subprocess
import sys

import pytest

SHOW_MODULES = """\
import io, sys
pages, *arguments = sys.argv[1:]
import sleuth.handbook
sleuth.handbook.PAGES = pages
from sleuth.cli import main
sys.stdout, shown = io.StringIO(), sys.stdout
assert main(arguments) == 0
print(*sorted(sys.modules), file=shown)
"""
FRAMEWORKS = {"torch", "numpy"}
SLOW = {"rich", "dataclasses", "inspect", "typing", "tomllib", "importlib.metadata", "pathlib", "shutil", "json"}


def imported_by(pages, environment, *arguments, **variables):
    shown = subprocess.run(
        [sys.executable, "-c", SHOW_MODULES, str(pages), *arguments],
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["explain"], ["explain", "log-of-zero"], ["explain", "--help"], ["explain", "--search", "x"]],
)
def test_help_and_handbook_import_nothing_slow_when_piped(pages, environment, arguments):
    assert not imported_by(pages, environment, *arguments) & (FRAMEWORKS | SLOW)


@pytest.mark.parametrize(
    "arguments",
    [["check", "--help"], ["run", "--help"], ["report", "--help"], ["view", "--help"], ["completion", "bash"]],
)
def test_no_help_imports_a_framework(pages, environment, arguments):
    assert not imported_by(pages, environment, *arguments) & (FRAMEWORKS | {"rich"})


def test_a_page_in_colour_imports_rich_but_no_framework(pages, environment):
    modules = imported_by(pages, environment, "explain", "log-of-zero", FORCE_COLOR="1")
    assert "rich" in modules
    assert not modules & FRAMEWORKS


def test_only_the_command_that_is_called_is_loaded(pages, environment):
    modules = imported_by(pages, environment, "explain")
    assert "sleuth.cli.explain" in modules
    assert not modules & {"sleuth.cli.run", "sleuth.cli.report", "sleuth.cli.completion", "sleuth.options"}
