"""The page itself: as the server hands it out, and as one file that needs no server."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).with_name("page")
# In the order in which each needs the ones before.
_SCRIPTS = ("dom", "numbers", "store", "chart", "layers", "panels", "findings", "header", "page")
_STYLE_TAG = '<link rel="stylesheet" href="page.css">'
_SCRIPT_TAG = '<script src="page.js" defer></script>'
_NOTHING_ELSE = "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"


@cache
def markup() -> str:
    return (_FOLDER / "index.html").read_text(encoding="utf-8")


@cache
def style() -> str:
    return (_FOLDER / "page.css").read_text(encoding="utf-8")


@cache
def script() -> str:
    parts = [(_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    return '(() => {\n"use strict";\n' + "\n".join(parts) + "})();\n"


def exported(data: dict[str, Any]) -> str:
    """One file with everything in it. It may use our script and our style, and nothing else, not even the network."""
    policy = f"{_NOTHING_ELSE}; script-src {_hash(script())}; style-src {_hash(style())}"
    page = markup()
    for tag, whole in (
        (
            '<meta charset="utf-8">',
            f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        ),
        (_STYLE_TAG, f"<style>{style()}</style>"),
        (
            _SCRIPT_TAG,
            f'<script type="application/json" id="record">{embedded(data)}</script>\n<script>{script()}</script>',
        ),
    ):
        before, found, after = page.rpartition(tag)
        assert found, f"the page has no {tag}"
        page = before + whole + after
    return page


def embedded(data: dict[str, Any]) -> str:
    """JSON that no name in it can break out of: neither its script element nor a line of JavaScript."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
