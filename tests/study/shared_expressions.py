"""Every expression that DuckDB and Spark share, by name, with what it answers: filters, presets, analyses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from sleuth.study import analyses, engine, select
from sleuth.study.corpus import Corpus
from sleuth.study.label.store import Label
from sleuth.study.material import ANY, gather
from sleuth.study.schemes import settle
from sleuth.study.select import filters
from sleuth.study.select.selection import count_table, selected_table


def every_answer(connection: Any, corpus: Corpus, labelled: list[Label]) -> Iterator[tuple[str, Any]]:
    """A new filter, preset or analysis is among them by being there."""
    posts = engine.posts(connection, corpus)
    yield from filter_answers(posts)
    yield from preset_answers(posts)
    yield from analysis_answers(connection, corpus, labelled)


def filter_answers(posts: Any) -> Iterator[tuple[str, Any]]:
    """Which posts each example of a filter keeps: one query for all."""
    examples = [example for family in families() for example in family.EXAMPLES]
    kept = {f"example_{number}": filters.keep(posts, example) for number, example in enumerate(examples)}
    rows = posts.select("key", **kept).order_by("key").to_pyarrow().to_pydict()
    for number, example in enumerate(examples):
        yield f"filter {example}", list(zip(rows["key"], rows[f"example_{number}"], strict=True))


def families() -> list[filters.Family]:
    """The modules of filters, each once."""
    return list({id(family): family for family in filters.families().values()}.values())


def preset_answers(posts: Any, whole: bool = True) -> Iterator[tuple[str, Any]]:
    """The funnel of each preset, and the posts that it leaves (or only how many)."""
    for name in select.names():
        steps = [step for step in select.load(name).steps if not step.by_hand]
        counted = count_table(posts, steps).to_pyarrow().to_pylist()
        yield f"funnel of {name}", sorted(tuple(row.values()) for row in counted)
        chosen = selected_table(posts, steps)
        if whole:
            yield f"posts of {name}", chosen.order_by("key").to_pyarrow().to_pylist()
        else:
            summed = chosen.aggregate(n=chosen.count(), accepted=chosen.accepted_ms.sum())
            yield f"posts of {name}", summed.to_pyarrow().to_pylist()


def analysis_answers(
    connection: Any, corpus: Corpus, labelled: list[Label], names: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Every analysis on these labels, or those of these names."""
    material = gather(connection, corpus, settle(labelled))
    # What a selection would have left in the manifest.
    material = replace(material, funnel=material.funnel or ({"step": "in the corpus", "posts": 1},))
    for answer in analyses.run(material, names or map(_by_one_codebook, analyses.analysis_names())):
        rows = answer.rows if isinstance(answer, analyses.Result) else answer.why
        yield f"analysis {answer.name}", rows


def _by_one_codebook(name: str) -> str:
    """An analysis of any labels asks the same of all of them."""
    return f"{name}:kinds" if ANY in analyses.load_analysis(name).NEEDS else name


def differ(one: Any, other: Any) -> bool:
    """Whether two answers are unlike; sums of fractions may differ in the last digits."""
    if isinstance(one, float) and isinstance(other, float):
        return not (
            one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other)) or (one != one and other != other)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() != other.keys() or any(differ(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) != len(other) or any(differ(*pair) for pair in zip(one, other, strict=True))
    return bool(one != other or type(one) is not type(other))
