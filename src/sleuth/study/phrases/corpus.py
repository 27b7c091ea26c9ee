"""The verb phrases of a whole corpus."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.study.corpus import Corpus
from sleuth.study.label.store import Label
from sleuth.study.phrases.extract import Phrase, extract

# Who gave these labels.
RATER = "phrases"


def phrases_of(corpus: Corpus) -> Iterator[tuple[str, str, Phrase | None]]:
    """Key, title and phrase of every post that has a title; None for those that ask to do nothing."""
    import pyarrow.dataset as ds

    if not corpus.parts:
        return
    titled = (ds.field("kind_of_post") != "answer") & ds.field("title").is_valid()
    for batch in ds.dataset(corpus.parts).to_batches(columns=["key", "title"], filter=titled):
        for row in batch.to_pylist():
            yield row["key"], row["title"], extract(row["title"])


def as_labels(key: str, phrase: Phrase) -> list[Label]:
    """The phrase as labels of the codebooks `taxonomy` and, where data are processed, `verbs`."""
    labels = [Label(key, "taxonomy", phrase.label, RATER)]
    if phrase.group is not None and phrase.phase == "data-processing":
        labels.append(Label(key, "verbs", phrase.group, RATER))
    return labels
