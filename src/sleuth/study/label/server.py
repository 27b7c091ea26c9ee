"""Hands the labelling page to one rater's browser, and answers `saved` when a label is on disk, not before."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, cast

from sleuth.loopback import CSS, JS, JSON, LoopbackHandler, LoopbackServer
from sleuth.study.label.session import LONGEST_NOTE, Session, Unfit
from sleuth.study.label.store import NotLabels

_FOLDER = Path(__file__).with_name("page")
# The view of a run makes its elements in the same way.
_ELEMENTS = Path(__file__).parents[2] / "view" / "page" / "dom.js"
# In the order in which each needs the ones before.
_SCRIPTS = ("work", "sending", "reading", "codebook", "keys", "header", "page")
_LONGEST_BODY = 64 * 1024
# Below the ports that systems give to outgoing connections, above those of well-known services.
_FIRST_PORT, _PORTS = 20_000, 12_000


class LabelServer(LoopbackServer):
    """Serves one rater. Another rater has another server, so that neither can see the other's labels."""

    command = "sleuth study label"

    def __init__(self, session: Session, port: int = 0, resume: str = "") -> None:
        super().__init__(LabelHandler, port)
        self.session = session
        self.resume = resume


def usual_port(session: Session) -> int:
    """Always the same for the same work: what a page could not send is kept by the browser under its port."""
    return _FIRST_PORT + int(session.id, 16) % _PORTS


class LabelHandler(LoopbackHandler):
    @property
    def session(self) -> Session:
        return cast(LabelServer, self.server).session

    def markup(self) -> str:
        return (_FOLDER / "index.html").read_text(encoding="utf-8")

    def give(self, path: str, asked: dict[str, list[str]]) -> None:
        if path == "/page.css":
            return self.answer(200, CSS, (_FOLDER / "page.css").read_bytes())
        if path == "/page.js":
            return self.answer(200, JS, script().encode())
        if path == "/work":
            return self._json(200, _work(self.session, cast(LabelServer, self.server).resume))
        if path == "/changes":
            since = asked.get("since", ["0"])[-1]
            return self._json(200, self.session.changes(int(since) if since.isdecimal() and len(since) < 16 else 0))
        return self.say(404, "there is nothing here\n")

    def do_POST(self) -> None:  # noqa: N802  (http.server's name)
        # Whatever is refused is left unread, and the next request would begin in the middle of it.
        self.close_connection = True
        if not self.lets_in():
            return None
        if not self._is_from_our_page():
            return self.say(403, "labels come from the page itself\n")
        length = self.headers["Content-Length"] or ""
        if not length.isdecimal() or int(length) > _LONGEST_BODY:
            return self.say(413, "this is too long for a label or a note\n")
        body = self.rfile.read(int(length))
        self.close_connection = self.headers.get("Connection", "").lower() == "close"
        try:
            return self._take(self.path, json.loads(body))
        except (Unfit, ValueError) as problem:
            return self.say(400, f"{problem}\n")
        except NotLabels as problem:
            return self.say(507, f"{problem}\n")

    def _is_from_our_page(self) -> bool:
        """A form of another site can neither send JSON nor hide where it comes from."""
        origin = self.headers["Origin"]
        ours = origin is None or origin.partition("://")[2] == self.headers["Host"]
        return ours and (self.headers["Content-Type"] or "").partition(";")[0].strip().lower() == "application/json"

    def _take(self, path: str, said: Any) -> None:
        if not isinstance(said, dict) or not isinstance(said.get("key"), str):
            raise Unfit("this names no post")
        if said.get("session") != self.session.id:
            return self.say(409, "another piece of labelling is served here now\n")
        if path == "/label":
            mark = self.session.choose(said["key"], _texts(said.get("labels")), _text_or_none(said.get("second")))
        elif path == "/note":
            mark = self.session.annotate(said["key"], _text_or_none(said.get("note")) or "")
        else:
            return self.say(404, "there is nothing here\n")
        return self._json(200, {"key": said["key"], "mark": asdict(mark)})

    def _json(self, status: int, data: dict[str, Any]) -> None:
        self.answer(status, JSON, json.dumps(data, separators=(",", ":")).encode("ascii"))


@cache
def script() -> str:
    parts = [path.read_text(encoding="utf-8") for path in (_ELEMENTS, *(_FOLDER / f"{name}.js" for name in _SCRIPTS))]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def _work(session: Session, resume: str) -> dict[str, Any]:
    """All that the page needs, so that it can go on while no server answers."""
    return {
        "rater": session.rater,
        "round": session.round,
        "resume": resume,
        "longest_note": LONGEST_NOTE,
        "codebook": asdict(session.codebook),
        "posts": [asdict(post) for post in session.posts],
        **session.changes(0),
    }


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Unfit("labels must be a list of texts")
    return value


def _text_or_none(value: Any) -> str | None:
    if not isinstance(value, str | None):
        raise Unfit("this must be a text")
    return value
