"""Colours that a white and a black terminal both show well: of middling brightness, and of those no theme changes."""

from __future__ import annotations

ERROR = "color(161)"
WARNING = "color(130)"
NOTE = "color(31)"
ADDED = "color(28)"
REMOVED = ERROR
# For what may be read past: instead of `dim`, which is too pale on white.
QUIET = "color(243)"
KEYWORD = "color(133)"
STRING = ADDED
NUMBER = "color(63)"
