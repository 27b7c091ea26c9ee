"""An error that ended the program, explained: by its message, which may be known, and by the frames it came through."""

from sleuth.live.crashes.at_hand import AtHand
from sleuth.live.crashes.explain import crash_of, diagnoses, is_explained_by

__all__ = ["AtHand", "crash_of", "diagnoses", "is_explained_by"]
