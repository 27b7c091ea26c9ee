"""Hands the page of a run, and of those beside it, to a browser on this machine."""

from __future__ import annotations

import json
import threading
from typing import cast

from sleuth.loopback import CSS, JS, JSON, LoopbackHandler, LoopbackServer
from sleuth.view import document, runs
from sleuth.view.data import Run


class Server(LoopbackServer):
    """Serves a run, and on request another one that lies beside it."""

    command = "sleuth view"

    def __init__(self, run: Run, port: int = 0) -> None:
        super().__init__(_Handler, port)
        self._run = run
        self._others: dict[str, Run] = {run.folder.resolve().name: run}
        self._one_at_a_time = threading.Lock()

    def runs(self) -> bytes:
        told = {"chosen": self._run.folder.resolve().name, "runs": runs.beside(self._run.folder)}
        return json.dumps(told, separators=(",", ":")).encode("ascii")

    def data(self, since: int, known: str | None, name: str | None = None) -> tuple[str, bytes | None]:
        """The data's tag, and the data unless the browser has that already. Raises LookupError."""
        with self._one_at_a_time:
            run = self._run if name is None else self._beside(name)
            run.refresh()
            tag = f'"{run.tag()}"'
            page = None if tag == known else run.page(since)
        return tag, None if page is None else json.dumps(page, separators=(",", ":")).encode("ascii")

    def _beside(self, name: str) -> Run:
        """Only what the list has: a name is never taken for a path."""
        if name not in self._others:
            if name not in {one["name"] for one in runs.beside(self._run.folder)}:
                raise LookupError(name)
            self._others[name] = Run(self._run.folder.resolve().parent / name, self._run.ignore)
        return self._others[name]


class _Handler(LoopbackHandler):
    def markup(self) -> str:
        return document.markup()

    def give(self, path: str, asked: dict[str, list[str]]) -> None:
        if path == "/page.css":
            return self.answer(200, CSS, document.style().encode())
        if path == "/page.js":
            return self.answer(200, JS, document.script().encode())
        if path == "/data":
            return self._data(asked.get("since", ["-1"])[-1], asked.get("run", [None])[-1])
        if path == "/runs":
            return self.answer(200, JSON, cast(Server, self.server).runs())
        return self.say(404, "there is nothing here\n")

    def _data(self, since: str, name: str | None) -> None:
        known = int(since) if since.removeprefix("-").isdecimal() and len(since) < 16 else -1
        try:
            tag, body = cast(Server, self.server).data(known, self.headers["If-None-Match"], name)
        except (LookupError, OSError):
            return self.say(404, "there is no such run\n")
        if body is None:
            return self.answer(304, JSON, b"", {"ETag": tag})
        return self.answer(200, JSON, body, {"ETag": tag})
