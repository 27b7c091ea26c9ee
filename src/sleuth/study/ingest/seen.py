"""Which posts have come already: pages of an API overlap, and a post must not count twice. Eight bytes a post."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

_RECENT = 65_536


class Seen:
    """Keys by their hashes: most in one sorted array, the latest in a set until they are worth a merge."""

    def __init__(self) -> None:
        self._old = np.empty(0, np.int64)
        self._recent: set[int] = set()

    def fresh(self, posts: pa.Table) -> pa.Table:
        """The posts that come for the first time."""
        hashes = np.fromiter(map(hash, posts["key"].to_pylist()), np.int64, len(posts))
        places = np.minimum(np.searchsorted(self._old, hashes), max(0, len(self._old) - 1))
        known = self._old[places] == hashes if len(self._old) else np.zeros(len(hashes), bool)
        for number, found in enumerate(hashes.tolist()):
            if found in self._recent:
                known[number] = True
            elif not known[number]:
                self._recent.add(found)
        if len(self._recent) > max(_RECENT, len(self._old) // 8):
            self._old = np.sort(np.concatenate([self._old, np.fromiter(self._recent, np.int64, len(self._recent))]))
            self._recent.clear()
        return posts.filter(pa.array(~known)) if known.any() else posts
