"""Opens a page in the user's browser, where there is one with a window."""

from __future__ import annotations

import os
import sys


def show_page(url: str) -> None:
    """Open it; without a display nothing happens, since a text browser would take the terminal over."""
    if not _has_display():
        return
    import webbrowser

    from sleuth.cli import streams

    try:
        opened = webbrowser.open(url)
    except (webbrowser.Error, OSError):
        opened = False
    if not opened:
        streams.complain("no browser could be opened; open the address above yourself")


def _has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
