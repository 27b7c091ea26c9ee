"""The example report as a page in a file, and a real Chromium to open it with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request
from report_example import example

from sleuth.study.report.content import Report
from sleuth.study.report.page import html


@pytest.fixture
def report() -> Report:
    return example()


class Sight:
    """A page as somebody sees it who opened the file; what it told the console, and asked of the network."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._asked)
        self.url = file.as_uri()
        page.goto(self.url)

    def _asked(self, request: Request) -> None:
        self.requests.append(request.url)


Look = Callable[..., Sight]


@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Iterator[Look]:
    """Opens a report by double-click: from a file, so wide, in the light or in the dark."""
    contexts = []

    def open_it(report: Report, width: int = 1280, dark: bool = False) -> Sight:
        file = tmp_path / "a report.html"
        file.write_text(html(report), encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        return Sight(context.new_page(), file)

    yield open_it
    for context in contexts:
        context.close()
