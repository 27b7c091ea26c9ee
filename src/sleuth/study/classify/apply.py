"""A trained model let loose on a corpus: one guess a post, some thousand posts at a time."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sleuth.study.classify.evaluate import Classifier
from sleuth.study.classify.model_file import Trained, key_mark
from sleuth.study.classify.texts import batches_of, number_of

Array = Any
Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Guess:
    """What a post was taken for, how sure the model is, and what it would say next."""

    key: str
    label: str
    probability: float
    second: str


class CannotWrite(Exception):
    """`str()` of it is the one line to show."""


def guesses(model: Classifier, corpus: str | Path, tell: Tell | None = None) -> Iterator[Guess]:
    """Every post that is not an answer. Raises NoTexts and NotACorpus."""
    total = number_of(corpus) if tell else 0
    done = 0
    for batch in batches_of(corpus):
        found = model.predict_proba([text for _, text in batch])
        for (key, _), row in zip(batch, found, strict=True):
            second, first = row.argsort()[-2:]
            yield Guess(key, str(model.classes_[first]), float(row[first]), str(model.classes_[second]))
        done += len(batch)
        if tell:
            tell(done, total)


def count_guesses(trained: Trained, corpus: str | Path, tell: Tell | None = None) -> Array:
    """How many posts are taken for each class.

    A post that the model learnt from counts as models guessed it that had not seen it: now it would be guessed too
    well, and correcting for errors that are not made would add new ones."""
    held = trained.held_out
    known = {key: number for number, key in enumerate(trained.keys)}
    places = {label: number for number, label in enumerate(held.classes)}
    counts = np.zeros(len(held.classes))
    for guess in guesses(trained.model, corpus, tell):
        number = known.get(key_mark(guess.key))
        if number is None:
            counts[places[guess.label]] += 1
        else:
            counts += np.bincount(held.guesses[:, number], minlength=len(counts)) / len(held.guesses)
    return counts


def write_guesses(found: Iterable[Guess], path: str | Path, *, codebook: str, rater: str) -> Iterator[str]:
    """Write them as labels that `sleuth study` can read, the file whole or not at all; gives each label on its way."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    at_ms = time.time_ns() // 1_000_000
    try:
        with open(draft, "x", encoding="utf-8") as file:
            for guess in found:
                record: dict[str, Any] = {"key": guess.key, "codebook": codebook, "label": guess.label}
                record |= {"second": guess.second, "rater": rater, "round": 1, "at_ms": at_ms}
                record["probability"] = round(guess.probability, 4)
                file.write(json.dumps(record) + "\n")
                yield guess.label
        os.replace(draft, path)
    except OSError as error:
        raise CannotWrite(f"cannot write {path}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
