"""Hands the page to a browser on this machine, and to nobody else."""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qs, urlsplit

from sleuth.view import document
from sleuth.view.data import Run

_ADDRESS = "127.0.0.1"
# Through an SSH tunnel the port differs, so only the name counts. A rebound DNS name is never one of these.
_LOOPBACK = {"127.0.0.1", "localhost", "[::1]"}
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": document.SERVED_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HTML, _CSS, _JS, _JSON, _TEXT = (
    f"{kind}; charset=utf-8" for kind in ("text/html", "text/css", "text/javascript", "application/json", "text/plain")
)


class Server(ThreadingHTTPServer):
    """Serves one run. Whoever does not know the token gets nothing."""

    daemon_threads = True

    def __init__(self, run: Run, port: int = 0) -> None:
        super().__init__((_ADDRESS, port), _Handler)
        self.token = secrets.token_urlsafe(24)
        self._run = run
        self._one_at_a_time = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://{_ADDRESS}:{self.server_port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        # A browser sends cookies to every port of a host, so another Sleuth's must have another name.
        return f"sleuth-{self.server_port}"

    def admits(self, token: str | None) -> bool:
        return token is not None and hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def data(self, since: int, known: str | None) -> tuple[str, bytes | None]:
        """The data's tag, and the data unless the browser has that already."""
        with self._one_at_a_time:
            self._run.refresh()
            tag = f'"{self._run.tag()}"'
            page = None if tag == known else self._run.page(since)
        return tag, None if page is None else json.dumps(page, separators=(",", ":")).encode("ascii")

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up in the middle of an answer is nobody's concern."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A connection kept open without a word gives its thread back.
    timeout = 60

    def do_GET(self) -> None:
        server = cast(Server, self.server)
        target = urlsplit(self.path)
        asked = parse_qs(target.query)
        if not self._is_for_loopback():
            return self._say(403, "this page is for this machine only\n")
        by_query = target.path == "/" and server.admits(asked.get("token", [None])[-1])
        if not (
            by_query or server.admits(self._cookie(server.cookie)) or server.admits(self.headers["X-Sleuth-Token"])
        ):
            return self._say(403, "open the address that `sleuth view` has printed\n")
        if target.path == "/":
            cookie = f"{server.cookie}={server.token}; Path=/; HttpOnly; SameSite=Strict"
            return self._answer(200, _HTML, document.markup().encode(), {"Set-Cookie": cookie} if by_query else {})
        if target.path == "/page.css":
            return self._answer(200, _CSS, document.style().encode())
        if target.path == "/page.js":
            return self._answer(200, _JS, document.script().encode())
        if target.path == "/data":
            return self._data(server, asked.get("since", ["-1"])[-1])
        return self._say(404, "there is nothing here\n")

    do_HEAD = do_GET  # noqa: N815  (http.server's name)

    def _data(self, server: Server, since: str) -> None:
        known = int(since) if since.removeprefix("-").isdecimal() and len(since) < 16 else -1
        tag, body = server.data(known, self.headers["If-None-Match"])
        if body is None:
            return self._answer(304, _JSON, b"", {"ETag": tag})
        return self._answer(200, _JSON, body, {"ETag": tag})

    def _is_for_loopback(self) -> bool:
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1:
            return False
        name, colon, port = hosts[0].rpartition(":")
        return (name if colon and port.isdecimal() else hosts[0]).lower() in _LOOPBACK

    def _cookie(self, name: str) -> str | None:
        """Read by hand: http.cookies gives up at the first strange one, and other servers of this machine set those."""
        for part in (self.headers["Cookie"] or "").split(";"):
            given, _, value = part.strip().partition("=")
            if given == name:
                return value
        return None

    def version_string(self) -> str:
        return "sleuth"

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server refuses by itself, such as another method, is answered with the same headers."""
        self.close_connection = True
        self._say(code, f"{message or 'this cannot be answered'}\n")

    def _say(self, status: int, words: str) -> None:
        self._answer(status, _TEXT, words.encode())

    def _answer(self, status: int, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        if self.close_connection:
            self.send_header("Connection", "close")
        for name, value in {**_HEADERS, **(more or {})}.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status != 304:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: the terminal belongs to the user."""
