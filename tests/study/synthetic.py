"""Posts that nobody wrote: every column of a corpus, nulls and awkward letters included, the same at every call."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sleuth.study import corpus
from sleuth.study.label.codebook import codebook_names, load_codebook
from sleuth.study.label.store import Label
from sleuth.study.schemes import ROLES

_DAY_MS = 86_400_000
_FIRST_MS = 1_420_070_400_000  # 2015-01-01
_YEARS = 8
_KINDS = ("question", "answer", "issue", "commit", "pull-request", "other")
_SHARES = (0.46, 0.38, 0.08, 0.05, 0.02, 0.01)

_THINGS = "tensor model loss layer gradient optimizer dataset checkpoint image batch embedding weight session".split()
_VERBS = "save load reshape train convert freeze plot normalise restore export slice concatenate".split()
_TITLES = (
    "How to {verb} a {thing} in TensorFlow",
    "PyTorch: how to {verb} the {thing}?",
    "How do I {verb} every {thing} of a model",
    "How can I {verb} my {thing} on two GPUs?",
    "how\u00a0to {verb} a {thing}",
    "How does {verb}ing a {thing} work",
    "Somehow total {thing} is wrong",
    "{thing} is NaN after some epochs",
    "Why is my {thing} nan?",
    "loss=inf when I {verb} the {thing}",
    "Information about the {thing}, and a banana",
    "NAN in {thing}s, -Inf in gradients",
    "éNaN or NaNé, \u0130nf, \u212aeras {thing}",
    "ValueError: {thing} has shape (32, 10)",
    "{thing} {verb}\u2028second line nan",
    "What is the difference between {thing} and tensor",
    "",
)
_MESSAGES = (
    "Fix crash when the {thing} is empty",
    "fixes #12: wrong {thing} in {verb}",
    "Fixed {thing} bug",
    "Merge pull request #7 from fix/{thing}",
    "Fix typo in {thing} docs",
    "docs: fix the example of {thing}",
    "Add a fixed-size {thing}",
    "Add prefix to {thing}",
    "bugfix({thing}): {verb} twice",
    "Correct a defect in {verb}",
    "Implement {verb}",
    'Revert "Fix {thing}"',
)
_SENTENCES = (
    "I want to {verb} the {thing} and it does not do what I expect.",
    "The loss becomes nan after a few steps.",
    "Here is some info about my set-up; the {thing} has four axes.",
    "It prints -inf for the first {thing}.",
    "I have tried to {verb} it twice: CUDA out of memory.",
    "Fixes #{number}",
    "Ça marche d'habitude, naïvement; 数据 \U0001f600 {thing}.",
    "The documentation says that one must {verb} before training.",
)
_CODE = ("loss = model({thing})", "x = np.nan", "best = float('inf')", "optimizer.step()", "{thing}.{verb}()")
_TAGS = (
    ["tensorflow"],
    ["python", "tensorflow", "keras"],
    ["pytorch"],
    ["python", "pytorch", "torchvision"],
    ["theano"],
    ["keras", "lstm"],
    ["tensorflow2.0"],
    ["tensorflow-lite", "android"],
    ["tensorflow.js", "javascript"],
    ["caffe", "c++"],
    ["torch", "lua"],
    ["deeplearning4j", "java"],
    ["python", "pandas"],
    ["c++", "opencv"],
    ["not-tensorflow"],
    ["Type: Bug", "Theano"],
    [],
)
# Letters that fold to ASCII ones, that some engines take for spaces or line ends, that SQL or a pattern might mistake.
_AWKWARD = (
    *"NaN nan NANs inf -Inf Infinity info banana how How HOW to do I can we fix Fixes fixed bug docs typo".split(),
    *"tensorflow pytorch _ 0 9 #12 {x}".split(),
    *"\u212a \u017f \u0130 \u0131 é 数据 \U0001f600 ' '' \\ \\\\ \\n % | [ ] ^ $ . *".split(),
    *("\t", "\v", "\f", "\r", "\n", "\r\n", "\x1c", "\x1f", "\x85", "\xa0", "\u2028", "\u200b", "\ufeff", "e\u0301"),
)


def posts(count: int, seed: int = 7, first: int = 0) -> pa.Table:
    """So many posts, numbered from `first`."""
    draw = np.random.default_rng([seed, first])
    number = np.arange(first, first + count, dtype=np.int64)
    kind = draw.choice(len(_KINDS), size=count, p=_SHARES)
    is_question, is_answer, on_github = kind == 0, kind == 1, np.isin(kind, (2, 3, 4))
    # An answer belongs to the post before it.
    accepted = is_question & np.append(is_answer[1:], False) & (draw.random(count) < 0.8)
    waited = draw.lognormal(np.log(7_200_000), 2, count).astype(np.int64)
    created = _FIRST_MS + draw.integers(0, _YEARS * 365 * _DAY_MS, count)
    created = np.where(is_answer, np.roll(created + waited, 1), created)
    closed = (is_question & (draw.random(count) < 0.05)) | (on_github & (draw.random(count) < 0.6))
    columns = {
        "key": _keys(number, on_github),
        "id": number,
        "site": pc.if_else(pa.array(on_github), "github", "stackoverflow"),
        "kind_of_post": pa.array(_KINDS).take(pa.array(kind)),
        "parent": _or_null(number - 1, is_answer),
        "accepted_answer": _or_null(number + 1, accepted),
        "created_ms": _or_null(created, draw.random(count) < 0.999),
        # Some sources do not say when.
        "accepted_ms": _or_null(created + waited, accepted & (draw.random(count) < 0.9)),
        "closed_ms": _or_null(created + 3 * waited, closed),
        "active_ms": _or_null(created + 5 * waited, draw.random(count) < 0.9),
        "score": _or_null(draw.geometric(0.3, count) - 3, ~on_github),
        "views": _or_null(draw.lognormal(6, 1.5, count).astype(np.int64), is_question),
        "answers": _or_null(draw.poisson(1.2, count) + accepted, is_question),
        "comments": _or_null(draw.poisson(1.5, count), draw.random(count) < 0.95),
        "owner": _or_null(draw.integers(1, 50_000, count), draw.random(count) < 0.97),
        "title": _titles(draw, kind),
        "text": _texts(draw, number),
        "code": _lists(draw, _code_blocks(), count),
        "tags": _tags(draw, is_answer),
    }
    return pa.table([pa.array(columns[field.name]).cast(field.type) for field in corpus.COLUMNS], schema=corpus.COLUMNS)


def write(folder: Path, count: int, seed: int = 7, part: int = 100_000) -> corpus.Corpus:
    """A corpus of so many posts in that folder."""
    (folder / corpus.POSTS).mkdir(parents=True)
    for first in range(0, max(count, 1), part):
        rows = posts(min(part, count - first), seed, first)
        # Bodies are all different, as in life: a dictionary would be a present to the engine.
        path = folder / corpus.POSTS / f"part-{first // part:05}.parquet"
        pq.write_table(rows, path, use_dictionary=["site", "kind_of_post"])
    corpus.write_manifest(folder, {"source": "synthetic", "posts": count})
    return corpus.open_corpus(folder)


def awkward_posts(count: int, seed: int = 5) -> pa.Table:
    """Posts made of the letters and words on which engines might differ, in every column of text."""
    choose = random.Random(seed)

    def scribble() -> str | None:
        parts = [choose.choice(_AWKWARD) for _ in range(choose.randrange(7))]
        return None if choose.random() < 0.05 else choose.choice(("", " ", "\n", "-")).join(parts)

    rows = [
        {
            "key": f"awkward:{number}",
            "id": 10**9 + number,
            "site": choose.choice(("stackoverflow", "GitHub", "ai.stackexchange", "stackoverflow\n", "", None)),
            "kind_of_post": choose.choice(("question", "commit", "issue", "Question", None)),
            "title": scribble(),
            "text": scribble(),
            "code": choose.choice((None, [], [scribble()], [scribble(), scribble()])),
            "tags": choose.choice((None, [], [scribble()], [scribble(), "pytorch"])),
        }
        for number in range(count)
    ]
    return pa.Table.from_pylist(rows, schema=corpus.COLUMNS)


def labels(keys: list[str], seed: int = 11, share: float = 0.5) -> list[Label]:
    """Labels by every codebook for some of these posts."""
    draw = np.random.default_rng(seed)
    labelled = [key for key in keys if draw.random() < share]
    rows = []
    for scheme in (schemes[0] for schemes in ROLES.values()):
        choices = _labels_of(scheme)
        drawn = draw.integers(0, len(choices), len(labelled))
        rows += [Label(key, scheme, choices[int(number)], "final") for key, number in zip(labelled, drawn, strict=True)]
    return rows


def _labels_of(scheme: str) -> list[str]:
    if scheme in codebook_names():
        return [choice.name for choice in load_codebook(scheme).choosable]
    return ["tensorflow", "keras", "pytorch"] if scheme == "libraries" else ["one", "two", "three"]


def _or_null(values: Any, present: Any) -> pa.Array:
    return pa.array(values.astype(np.int64), mask=~np.asarray(present))


def _keys(number: Any, on_github: Any) -> pa.Array:
    digits = pa.array(number).cast(pa.string())
    return pc.binary_join_element_wise(pc.if_else(pa.array(on_github), "gh:a/b#issues/", "so:"), digits, "")


def _filled(patterns: tuple[str, ...]) -> list[str]:
    return [
        pattern.format(verb=verb, thing=thing, number=len(verb) + len(thing))
        for pattern in patterns
        for verb in _VERBS
        for thing in _THINGS
    ]


def _titles(draw: Any, kind: Any) -> pa.Array:
    titles, messages = pa.array(_filled(_TITLES)), pa.array(_filled(_MESSAGES))
    asked = titles.take(pa.array(draw.integers(0, len(titles), len(kind))))
    told = messages.take(pa.array(draw.integers(0, len(messages), len(kind))))
    title = pc.if_else(pa.array(kind == 3), told, asked)
    return pc.if_else(pa.array(kind == 1), pa.scalar(None, pa.string()), title)


def _texts(draw: Any, number: Any) -> pa.Array:
    sentences = pa.array(_filled(_SENTENCES))
    chosen = [sentences.take(pa.array(draw.integers(0, len(sentences), len(number)))) for _ in range(8)]
    digits = pa.array(number).cast(pa.string())
    text = pc.binary_join_element_wise(*chosen, digits, "\n")
    return pc.if_else(pa.array(draw.random(len(number)) < 0.98), text, pa.scalar(None, pa.string()))


def _code_blocks() -> list[list[str] | None]:
    blocks = _filled(_CODE)
    return [None, [], *([block] for block in blocks), *(blocks[at : at + 3] for at in range(0, len(blocks) - 3, 7))]


def _lists(draw: Any, choices: list[Any], count: int) -> pa.Array:
    return pa.array(choices, pa.list_(pa.string())).take(pa.array(draw.integers(0, len(choices), count)))


def _tags(draw: Any, is_answer: Any) -> pa.Array:
    choice = draw.integers(0, len(_TAGS), len(is_answer))
    return pa.array(list(_TAGS), pa.list_(pa.string())).take(pa.array(choice, mask=is_answer))
