"""Python's own parser, without a word about the text."""

from __future__ import annotations

import ast
import warnings


def parsed(text: str) -> ast.Module | None:
    """The tree of a text, or None where it is not Python."""
    with warnings.catch_warnings():
        # An odd escape in the user's string is not ours to mention.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
