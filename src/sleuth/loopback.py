"""A web server for one browser on this machine, and for nobody else: whoever does not know its token gets nothing."""

from __future__ import annotations

import hmac
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast
from urllib.parse import parse_qs, urlsplit

ADDRESS = "127.0.0.1"
HTML, CSS, JS, JSON, TEXT = (
    f"{kind}; charset=utf-8" for kind in ("text/html", "text/css", "text/javascript", "application/json", "text/plain")
)
# A page may use itself, and nothing else.
_POLICY = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none';"
    " script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'"
)
# Through an SSH tunnel the port differs, so only the name counts. A rebound DNS name is never one of these.
_LOOPBACK = {ADDRESS, "localhost", "[::1]"}
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class LoopbackServer(ThreadingHTTPServer):
    """Serves one page at an address with a secret in it."""

    daemon_threads = True
    # Which command prints the address.
    command = "sleuth"

    def __init__(self, handler: type[LoopbackHandler], port: int = 0) -> None:
        super().__init__((ADDRESS, port), handler)
        self.token = secrets.token_urlsafe(24)

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.server_port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        # A browser sends cookies to every port of a host, so another Sleuth's must have another name.
        return f"sleuth-{self.server_port}"

    def admits(self, token: str | None) -> bool:
        return token is not None and hmac.compare_digest(token.encode("utf-8", "replace"), self.token.encode())

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up in the middle of an answer is nobody's concern."""


class LoopbackHandler(BaseHTTPRequestHandler):
    """Lets in who may come in, and answers with headers that keep all others out; `give` does the rest."""

    protocol_version = "HTTP/1.1"
    # A connection kept open without a word gives its thread back.
    timeout = 60
    # The head of an answer and its body are two packets, and the second would wait for the browser's nod.
    disable_nagle_algorithm = True

    def give(self, path: str, asked: dict[str, list[str]]) -> None:
        """Answer a request for anything but the page itself."""
        raise NotImplementedError

    def markup(self) -> str:
        """The page itself."""
        raise NotImplementedError

    def do_GET(self) -> None:
        server = cast(LoopbackServer, self.server)
        target = urlsplit(self.path)
        asked = parse_qs(target.query)
        by_query = target.path == "/" and server.admits(asked.get("token", [None])[-1])
        if not self.lets_in(by_query):
            return None
        if target.path == "/":
            cookie = f"{server.cookie}={server.token}; Path=/; HttpOnly; SameSite=Strict"
            return self.answer(200, HTML, self.markup().encode(), {"Set-Cookie": cookie} if by_query else {})
        return self.give(target.path, asked)

    do_HEAD = do_GET  # noqa: N815  (http.server's name)

    def lets_in(self, by_query: bool = False) -> bool:
        """Whether this request may have an answer; if not, it has been told so."""
        server = cast(LoopbackServer, self.server)
        if not self._is_for_loopback():
            self.say(403, "this page is for this machine only\n")
        elif by_query or server.admits(self._cookie(server.cookie)) or server.admits(self.headers["X-Sleuth-Token"]):
            return True
        else:
            self.say(403, f"open the address that `{server.command}` has printed\n")
        return False

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
        self.say(code, f"{message or 'this cannot be answered'}\n")

    def say(self, status: int, words: str) -> None:
        self.answer(status, TEXT, words.encode())

    def answer(self, status: int, kind: str, body: bytes, more: dict[str, str] | None = None) -> None:
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
