"""One rater's work on one sample: which posts in which order, and what the rater has said of them so far."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from sleuth.study.label.codebook import Codebook
from sleuth.study.label.following import Following
from sleuth.study.label.posts import Post
from sleuth.study.label.store import Label, LabelFile, NotLabels, now_ms

# Of a codebook with `choose = "many"`: all that was chosen, as one label.
JOINT = "+"
LONGEST_NOTE = 4000
# Who thinks longer than this over one post has gone for a coffee.
_BREAK_MS = 10 * 60_000
_LATEST = 50


class Unfit(Exception):
    """What was said cannot be taken. `str()` of it is the one line to show."""


@dataclass(frozen=True)
class Mark:
    """What the rater has said of one post; nothing yet where there are no labels."""

    labels: tuple[str, ...] = ()
    second: str | None = None
    note: str = ""
    at_ms: int = 0

    @property
    def doubtful(self) -> bool:
        return self.second is not None or bool(self.note)


@dataclass(frozen=True)
class Tally:
    """How far a rater has come."""

    posts: int
    labelled: int
    doubtful: int
    # How long a post takes this rater, where enough are labelled to tell.
    seconds_each: float | None

    @property
    def left(self) -> int:
        return self.posts - self.labelled

    @property
    def seconds_left(self) -> float | None:
        return None if self.seconds_each is None else self.seconds_each * self.left


class Session:
    """Knows what one rater has said in one round; whatever it confirms is on disk."""

    def __init__(self, posts: Sequence[Post], codebook: Codebook, rater: str, round: int, labels: str | Path) -> None:
        _check_file(Path(labels))
        self.codebook, self.rater, self.round = codebook, rater, round
        self.posts = sorted(posts, key=lambda post: _digest(rater, codebook.name, str(round), post.key))
        self.id = _digest(os.path.realpath(labels), codebook.name, rater, str(round))[:16]
        self._lock = threading.Lock()
        self._labels, self._notes = Path(labels), notes_path(labels)
        LabelFile(labels).close()
        self._marks = {post.key: Mark() for post in self.posts}
        # Larger than any that the page may have from a server that was killed.
        self.revision = now_ms()
        self._changed_at = dict.fromkeys(self._marks, self.revision)
        self._said, self._noted = (Following(path, self._is_ours) for path in (self._labels, self._notes))
        self._refresh()

    def choose(self, key: str, labels: Iterable[str], second: str | None = None) -> Mark:
        """Note the choice, or with no labels take it back. When this returns it is on disk. Raises Unfit, NotLabels."""
        chosen, second = self._checked(labels, second)
        with self._lock:
            self._refresh()
            mark = self._mark(key)
            if (mark.labels, mark.second) == (chosen, second):
                # Sent again, since the first answer never arrived. It is in the file, but was the file on disk?
                _sync(self._labels)
                return mark
            written = _append(self._labels, self._line(key, JOINT.join(chosen) or None, second))
            return self._take(key, replace(mark, labels=chosen, second=second, at_ms=written.at_ms if chosen else 0))

    def annotate(self, key: str, note: str) -> Mark:
        """Keep a note on a post, or with an empty one drop it. When this returns it is on disk. Raises Unfit."""
        note = note.strip()
        if len(note) > LONGEST_NOTE:
            raise Unfit(f"a note has at most {LONGEST_NOTE} characters, this one {len(note)}")
        with self._lock:
            self._refresh()
            mark = self._mark(key)
            if mark.note == note:
                _sync(self._notes)
                return mark
            _append(self._notes, self._line(key, note or None))
            return self._take(key, replace(mark, note=note))

    def changes(self, since: int) -> dict[str, Any]:
        """What is new since that revision, in this tab or in any other place where this rater works."""
        with self._lock:
            # What was read before still stands; the next choice will say what is wrong with the file.
            with suppress(NotLabels):
                self._refresh()
            changed = {key: asdict(self._marks[key]) for key, at in self._changed_at.items() if at > since}
            return {
                "session": self.id,
                "revision": self.revision,
                "marks": changed,
                "seconds_each": self._tally().seconds_each,
            }

    def tally(self) -> Tally:
        with self._lock:
            return self._tally()

    def left(self) -> list[str]:
        """The posts without a label, in this rater's order."""
        with self._lock:
            return [post.key for post in self.posts if not self._marks[post.key].labels]

    def _checked(self, labels: Iterable[str], second: str | None) -> tuple[tuple[str, ...], str | None]:
        wanted = set(labels)
        choosable = [label.name for label in self.codebook.choosable]
        unknown = sorted((wanted | ({second} if second is not None else set())) - set(choosable))
        if unknown:
            raise Unfit(f"{unknown[0]!r} is no label of the codebook {self.codebook.name}")
        if self.codebook.choose == "one" and len(wanted) > 1:
            raise Unfit(f"the codebook {self.codebook.name} takes one label a post, not {len(wanted)}")
        if second is not None and (self.codebook.choose == "many" or not wanted or second in wanted):
            raise Unfit("a second choice goes with one other label")
        return tuple(name for name in choosable if name in wanted), second

    def _mark(self, key: str) -> Mark:
        if key not in self._marks:
            raise Unfit(f"{key!r} is not in the sample")
        return self._marks[key]

    def _line(self, key: str, said: str | None, second: str | None = None) -> Label:
        return Label(key, self.codebook.name, said, self.rater, self.round, second=second)

    def _take(self, key: str, mark: Mark) -> Mark:
        self._marks[key] = mark
        self.revision += 1
        self._changed_at[key] = self.revision
        return mark

    def _refresh(self) -> None:
        """Take in what anybody has written: this rater may work in two places at once."""
        for key in self._said.refresh() | self._noted.refresh():
            if key in self._marks and (now := self._as_mark(key)) != self._marks[key]:
                self._take(key, now)

    def _is_ours(self, label: Label) -> bool:
        return (label.codebook, label.rater, label.round) == (self.codebook.name, self.rater, self.round)

    def _as_mark(self, key: str) -> Mark:
        label, noted = self._said.standing.get(key), self._noted.standing.get(key)
        note = (noted.label if noted else None) or ""
        chosen = self._names(label.label) if label and label.label else ()
        return Mark(chosen, label.second, note, label.at_ms) if label and chosen else Mark(note=note)

    def _names(self, joint: str) -> tuple[str, ...]:
        """The labels in it; none if the codebook has been changed since, and no longer has one of them."""
        names = (joint,) if joint in self.codebook else tuple(joint.split(JOINT))
        return names if all(name in self.codebook for name in names) else ()

    def _tally(self) -> Tally:
        marks = self._marks.values()
        times = sorted(mark.at_ms for mark in marks if mark.labels)[-_LATEST:]
        gaps = [after - before for before, after in pairwise(times) if after - before < _BREAK_MS]
        return Tally(
            posts=len(marks),
            labelled=sum(1 for mark in marks if mark.labels),
            doubtful=sum(mark.doubtful for mark in marks),
            seconds_each=median(gaps) / 1000 if gaps else None,
        )


def notes_path(labels: str | Path) -> Path:
    """Where the notes on the posts of a labels.jsonl are kept, line by line just like the labels."""
    labels = Path(labels)
    return labels.with_name(f"{labels.stem}.notes.jsonl")


def _check_file(labels: Path) -> None:
    """Labels are added to a file of labels only: never to somebody's table."""
    try:
        with open(labels, "rb") as file:
            start = file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n\0")[:1]
    except FileNotFoundError:
        return
    except OSError as error:
        raise NotLabels(f"cannot read {labels}: {error.strerror}") from None
    if start not in (b"", b"{"):
        raise NotLabels(f"{labels} holds something other than labels; give another file to write them to")


def _append(path: Path, line: Label) -> Label:
    """Opened each time: an editor or a synchroniser may have put another file in its place meanwhile."""
    with LabelFile(path) as file:
        return file.append(line)


def _sync(path: Path) -> None:
    if not path.exists():
        return
    try:
        with open(path, "rb+") as file:
            os.fsync(file.fileno())
    except OSError as error:
        raise NotLabels(f"cannot write labels to {path}: {error.strerror}") from None


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()
