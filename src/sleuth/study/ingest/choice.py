"""Which posts are wanted while they are taken in: by tag and by date. An answer goes with its question."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class Choice:
    """No tags and no dates: everything. `tensorflow*` is every tag that begins so."""

    tags: tuple[str, ...] = ()
    since_ms: int | None = None
    until_ms: int | None = None

    @property
    def is_all(self) -> bool:
        return not self.tags and self.since_ms is None and self.until_ms is None

    @cached_property
    def names_tag(self) -> Callable[[str], bool]:
        """Whether a tag is one of those asked for."""
        globs = (".*".join(re.escape(part) for part in glob.split("*")) for glob in self.tags)
        pattern = re.compile("|".join(globs), re.IGNORECASE)
        return lru_cache(100_000)(lambda tag: pattern.fullmatch(tag) is not None)

    def as_data(self) -> dict[str, Any]:
        return {"tags": list(self.tags), "since_ms": self.since_ms, "until_ms": self.until_ms}


@dataclass
class Chooser:
    """Applies a choice to one source, batch by batch, and remembers the questions that it kept."""

    choice: Choice
    # Their ids, sorted.
    kept: np.ndarray[Any, Any] = field(default_factory=lambda: np.empty(0, np.int64))

    def chosen(self, posts: pa.Table) -> pa.Table:
        if self.choice.is_all or not len(posts):
            return posts
        own = pc.and_(pc.is_null(posts["parent"]), self._wanted(posts))
        self.keep(np.asarray(posts.filter(own)["id"].drop_null(), np.int64))
        return posts.filter(pc.or_(own, self._answers(posts["parent"])))

    def keep(self, ids: np.ndarray[Any, Any]) -> None:
        self.kept = np.concatenate([self.kept, ids])
        if len(ids) and (np.diff(self.kept[-len(ids) - 1 :]) < 0).any():
            self.kept.sort()

    def has(self, ids: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """For each id, whether its question was kept."""
        if not len(self.kept):
            return np.zeros(len(ids), bool)
        places = np.searchsorted(self.kept, ids)
        return np.asarray(self.kept[np.minimum(places, len(self.kept) - 1)] == ids)

    def _answers(self, parents: Any) -> Any:
        return pa.array(self.has(np.asarray(parents.fill_null(-1), np.int64)))

    def _wanted(self, posts: pa.Table) -> Any:
        mask = pa.array(np.ones(len(posts), bool))
        if self.choice.tags:
            mask = pc.and_(mask, tagged(posts["tags"].combine_chunks(), self.choice.names_tag))
        if self.choice.since_ms is not None:
            mask = pc.and_(mask, pc.greater_equal(posts["created_ms"], self.choice.since_ms))
        if self.choice.until_ms is not None:
            mask = pc.and_(mask, pc.less(posts["created_ms"], self.choice.until_ms))
        return pc.fill_null(mask, False)


def tagged(lists: Any, names_tag: Callable[[str], bool]) -> Any:
    """For each list of tags, whether one of those asked for is among them."""
    mask = np.zeros(len(lists), bool)
    if len(names := lists.flatten()):
        names = names.dictionary_encode()
        asked = np.array([names_tag(tag) for tag in names.dictionary.to_pylist()], bool)
        mask[np.asarray(pc.list_parent_indices(lists))[asked[np.asarray(names.indices)]]] = True
    return pa.array(mask)
