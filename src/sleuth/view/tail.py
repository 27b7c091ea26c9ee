"""The rows of a record that is still being written: each call gives what was added since the last."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Tail:
    """Reads on from where it stopped. A last line without its end is left for the next time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0

    def rows(self) -> Iterator[dict[str, Any]]:
        for line in self._lines():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and isinstance(row.get("row"), str):
                yield row

    def _lines(self) -> list[bytes]:
        try:
            with open(self.path, "rb") as file:
                file.seek(self._offset)
                added = file.read()
        except FileNotFoundError:
            # Old runs are cleared away; what has been read of this one can still be shown.
            return []
        whole = added[: added.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.split(b"\n")
