"""Where a report goes, and in which voice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TextIO

from sleuth.cli import files, streams
from sleuth.findings import Report
from sleuth.options import Options
from sleuth.report import Aside


class Outlet:
    """Settled before the program runs, as that may move to another folder, or change standard output."""

    def __init__(self, options: Options, compact: bool = False, stream: TextIO | None = None) -> None:
        """`stream` is where a person reads it, standard output unless told."""
        self.format = options.format
        self.compact = compact
        self.path = None if options.output is None else os.path.abspath(options.output)
        self.root = Path.cwd()
        self.stream = stream if self.format == "terminal" else None
        self.colour = self.path is None and self.format == "terminal" and streams.wants_colour(self.stream)
        self.width = streams.width(self.stream)
        if options.output is not None:
            files.check_writable(str(options.output))

    def keep_stdout_for_the_report(self) -> None:
        """What the program prints must not mix with a report that another program is going to read."""
        if self.path is None and self.format != "terminal":
            self.stream = streams.take_stdout()

    def publish(self, report: Report, aside: Aside | None = None) -> None:
        if self.path is None and self.format in ("terminal", "concise") and not report.findings:
            return
        from sleuth.report import render

        text = render(
            report,
            self.format,
            colour=self.colour,
            width=self.width,
            root=self.root,
            compact=self.compact,
            aside=aside,
        )
        self.write(text)

    def write(self, text: str) -> None:
        text = text if text.endswith("\n") or not text else text + "\n"
        if self.path is None:
            streams.show(text, self.stream)
        else:
            files.write(self.path, text)
