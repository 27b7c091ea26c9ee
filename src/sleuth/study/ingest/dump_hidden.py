"""Comments, CDATA sections and processing instructions between the rows of a dump: a row in them is no row."""

from __future__ import annotations

import numpy as np

from sleuth.study.ingest.lines import BOM
from sleuth.study.ingest.words64 import Array

_BEGINS_AND_ENDS = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))
_EXCLAMATION, _QUESTION = 33, 63
# How far back from one the end of what is before it is looked for.
_BLANKS = 256


def blanked(data: bytes, angles: Array) -> tuple[bytes, int]:
    """The data with all that is hidden as blanks, and where something begins that does not end in it, or its length.

    `angles` says where every `<` is. Blanks are as many as the bytes they stand for, so that places stay the same."""
    letters = np.frombuffer(data, np.uint8)
    inner = angles[angles + 1 < len(data)]
    following = letters[inner + 1]
    places = inner[(following == _EXCLAMATION) | (following == _QUESTION)]
    if not len(places):
        return data, len(data)
    shown, at = bytearray(data), 0
    for place in places.tolist():
        begin, end = next((pair for pair in _BEGINS_AND_ENDS if data.startswith(pair[0], place)), (b"", b""))
        if place < at or not begin or not _is_between_rows(data, place):
            continue
        at = data.find(end, place + len(begin)) + len(end)
        if at < len(end):
            return bytes(shown), place
        shown[place:at] = b" " * (at - place)
    return bytes(shown), len(data)


def _is_between_rows(data: bytes, place: int) -> bool:
    """Within a broken row a `<!--` hides nothing: it would take all rows up to the next comment with it."""
    before = data[max(0, place - _BLANKS) : place].rstrip()
    return not before or before.endswith((b">", BOM))
