"""How a report is shown from code: as a page in a notebook, as text anywhere else."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any, TextIO

from sleuth import kernel, report
from sleuth.findings import Report
from sleuth.live import Watch


def show(found: Report, stream: TextIO) -> None:
    if kernel.page() is not None:
        _display(found)
        return
    colour = stream.isatty() and "NO_COLOR" not in os.environ
    print(report.render(found, "terminal", colour=colour), file=stream)


def say_all_is_well(words: str) -> None:
    """In a notebook alone, where a cell without an output looks like one that was not watched."""
    if kernel.page() is not None:
        print(f"sleuth: {words}")


def known_to_notebook() -> None:
    """Reports and watches that are a cell's last value are shown in full, too."""
    shell = kernel.page()
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    for kind in (Report, Watch):
        formatters["text/html"].for_type(kind, _html)
        formatters["text/plain"].for_type(kind, _plain)


def _display(found: Report) -> None:
    known_to_notebook()
    importlib.import_module("IPython.display").display(found)


def _html(shown: Report | Watch) -> str:
    from sleuth.report import notebook_output

    found = _report(shown)
    if found.findings:
        return notebook_output.html(found, Path.cwd())
    return notebook_output.line(_nothing(shown))


def _plain(shown: Report | Watch, printer: Any, cycle: bool) -> None:
    found = _report(shown)
    printer.text(report.render(found, "terminal") if found.findings else _nothing(shown))


def _nothing(shown: Report | Watch) -> str:
    return repr(shown).strip("<>") if isinstance(shown, Watch) else report.render(shown, "terminal")


def _report(shown: Report | Watch) -> Report:
    return shown.report if isinstance(shown, Watch) else shown
