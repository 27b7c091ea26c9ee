"""Errors that are known word by word, and finding them in what a program said. Standard library only."""

from sleuth.known_errors.matching import Match, Recognised, Strength, matches
from sleuth.known_errors.reading import Frame, Reading, read

__all__ = ["Frame", "Match", "Reading", "Recognised", "Strength", "matches", "read"]
