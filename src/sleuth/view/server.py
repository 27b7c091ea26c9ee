"""Hands the page of a run to a browser on this machine."""

from __future__ import annotations

import json
import threading
from typing import cast

from sleuth.loopback import CSS, JS, JSON, LoopbackHandler, LoopbackServer
from sleuth.view import document
from sleuth.view.data import Run


class Server(LoopbackServer):
    """Serves one run."""

    command = "sleuth view"

    def __init__(self, run: Run, port: int = 0) -> None:
        super().__init__(_Handler, port)
        self._run = run
        self._one_at_a_time = threading.Lock()

    def data(self, since: int, known: str | None) -> tuple[str, bytes | None]:
        """The data's tag, and the data unless the browser has that already."""
        with self._one_at_a_time:
            self._run.refresh()
            tag = f'"{self._run.tag()}"'
            page = None if tag == known else self._run.page(since)
        return tag, None if page is None else json.dumps(page, separators=(",", ":")).encode("ascii")


class _Handler(LoopbackHandler):
    def markup(self) -> str:
        return document.markup()

    def give(self, path: str, asked: dict[str, list[str]]) -> None:
        if path == "/page.css":
            return self.answer(200, CSS, document.style().encode())
        if path == "/page.js":
            return self.answer(200, JS, document.script().encode())
        if path == "/data":
            return self._data(asked.get("since", ["-1"])[-1])
        return self.say(404, "there is nothing here\n")

    def _data(self, since: str) -> None:
        known = int(since) if since.removeprefix("-").isdecimal() and len(since) < 16 else -1
        tag, body = cast(Server, self.server).data(known, self.headers["If-None-Match"])
        if body is None:
            return self.answer(304, JSON, b"", {"ETag": tag})
        return self.answer(200, JSON, body, {"ETag": tag})
