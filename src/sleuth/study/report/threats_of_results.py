"""Threats that show in the results: few posts behind a number, many tests, another corpus than the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sleuth.study.report.content import Threat
from sleuth.study.report.known import Known
from sleuth.study.report.numbers import count, is_number
from sleuth.study.result import Result

# The median of fewer posts moves with every one of them.
_FEW = 10
_LEVEL = 0.05
_NAMED = 4


def _few_posts(known: Known) -> Iterator[Threat]:
    thin = [(result, rows) for result in known.results if (rows := _thin_rows(result))]
    if thin:
        told = "; ".join(
            f"{result.name}: {', '.join(rows[:_NAMED])}"
            + (f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else "")
            for result, rows in thin[:_NAMED]
        )
        more = f"; and in {count(len(thin) - _NAMED, 'more table')}" if len(thin) > _NAMED else ""
        yield Threat(
            f"Medians and means of fewer than {_FEW} posts",
            f"{told}{more}. One post more can change them, and their place in an order.",
        )


def _thin_rows(result: Result) -> list[str]:
    averaged = any(name.startswith(("median", "mean")) for name in result.columns)
    if not averaged or "posts" not in result.columns:
        return []
    at = result.columns.index("posts")
    return [str(row[0]) for row in result.rows if is_number(row[at]) and 0 < row[at] < _FEW]


def _many_tests(known: Known) -> Iterator[Threat]:
    values = [
        row[at]
        for result in known.results
        for at, name in enumerate(result.columns)
        if name == "p" or name.endswith(" p") or name.startswith("p of ")
        for row in result.rows
        if is_number(row[at])
    ]
    small = sum(value < _LEVEL for value in values)
    if len(values) > 1 and small:
        yield Threat(
            f"{len(values):,} tests",
            f"{small:,} of their p-values are below {_LEVEL}; about {_LEVEL * len(values):.1f} would be by chance "
            "alone. They are not corrected for their number.",
        )


def _another_corpus(known: Known) -> Iterator[Threat]:
    study = known.study
    if study is None or known.subjects == study.posts:
        return
    yield Threat(
        "Not the paper's corpus",
        f"{study.source} has {study.posts:,} posts, this corpus {known.subjects:,}: a figure that differs may differ "
        "because the posts do.",
        "grave",
    )


def _differing(known: Known) -> Iterator[Threat]:
    computed = [item for result in known.results for item in result.comparisons if item.ours is not None]
    differ = [item for item in computed if not item.same]
    if known.study is not None and known.subjects == known.study.posts and differ:
        yield Threat(
            f"{count(len(differ), 'figure')} of {len(computed):,} not reproduced",
            "From the same posts: either the paper's data were changed after its tables were made, or its table or "
            "this computation is wrong there. " + "; ".join(item.what for item in differ[:_NAMED]) + ".",
        )


THREATS: tuple[Callable[[Known], Iterator[Threat]], ...] = (_few_posts, _many_tests, _another_corpus, _differing)
