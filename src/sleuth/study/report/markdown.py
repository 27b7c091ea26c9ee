"""The report as Markdown: one file, its figures as pictures in a folder beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sleuth.study.report import beside
from sleuth.study.report.content import Passage, Report, Step, Verdict, tally, verdict
from sleuth.study.report.figures import CannotDraw, in_words
from sleuth.study.report.figures.funnel import funnel
from sleuth.study.report.figures.picture import picture
from sleuth.study.report.groups import grouped
from sleuth.study.report.names import file_name
from sleuth.study.report.numbers import MISSING, percent, places_for, said
from sleuth.study.report.pictures import picture_of
from sleuth.study.report.pivot import for_reading
from sleuth.study.result import Comparison, Result

_MOST_ROWS = 100
_SIGNS: dict[Verdict, str] = {"same": "✓ same", "differs": "**≠ differs**", "not computed": "– not computed"}


def markdown(report: Report, folder: str) -> tuple[str, dict[str, str]]:
    """The text, and the pictures by file name; the text looks for them in `folder`."""
    pictures: dict[str, str] = {}
    parts = [f"# {_plain(report.title)}", _plain(report.subtitle), *_summary(report)]
    parts.append("## Results")
    for title, members in grouped(report.results):
        parts.append(f"### {_plain(title)}")
        parts += [part for result in members for part in _result(result, folder, pictures)]
    parts += _threats(report)
    parts += _funnel(report.funnel, folder, pictures)
    parts += ["## Method", *(part for passage in report.method for part in _passage(passage))]
    if report.not_run:
        rows = [(item.title, f"`{item.name}`", item.why) for item in report.not_run]
        parts += ["## Analyses that could not be run", table(("analysis", "name", "why not"), rows)]
    return "\n\n".join([*parts, f"*{_plain(report.made)}*"]) + "\n", pictures


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], right: frozenset[int] = frozenset()) -> str:
    """A table of texts; the columns in `right` are numbers."""
    rule = "|".join(" ---: " if index in right else " --- " for index in range(len(columns)))
    lines = [_line(columns), f"|{rule}|", *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """One line, and no bar that would begin another cell. Marks of our own stay."""
    text = " ".join(str(text).split()).replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("<", "&lt;")


def _plain(text: str) -> str:
    """Text that Markdown takes as it is."""
    return re.sub(r"([\\`*_\[\]<#|])", r"\\\1", " ".join(text.split()))


def _summary(report: Report) -> Iterator[str]:
    yield table(("in short", "", ""), [(fact.name, f"**{_cell(fact.value)}**", fact.note) for fact in report.headline])
    differ = [(result, item) for result, item in report.comparisons if verdict(item) == "differs"]
    if differ:
        rows = [
            (result.title, item.what, beside.ours(item), beside.published(item), beside.difference(item))
            for result, item in differ
        ]
        yield f"{len(differ):,} of {len(report.comparisons):,} figures are not as published:"
        yield table(("analysis", "figure", "here", "in the paper", "difference"), rows, frozenset((2, 3, 4)))


def _funnel(steps: tuple[Step, ...], folder: str, pictures: dict[str, str]) -> Iterator[str]:
    if not steps:
        return
    yield "## How the posts were selected"
    pictures["funnel.svg"] = picture(funnel(steps, 860))
    yield f"![The steps of the selection]({folder}/funnel.svg)"
    rows, before = [], 0
    for step in steps:
        paper = MISSING if step.published is None else f"{step.published:,}"
        if step.posts is None:
            rows.append((step.name, "by hand", MISSING, paper))
            continue
        rows.append((step.name, f"{step.posts:,}", percent(step.posts, before), paper))
        before = step.posts
    yield table(("step", "posts", "of the step before", "in the paper"), rows, frozenset((1, 2, 3)))


def _passage(passage: Passage) -> Iterator[str]:
    yield f"### {_plain(passage.title)}"
    yield from (_plain(line) for line in passage.text.split("\n") if line.strip())
    if passage.rules:
        yield "\n".join(f"{number}. {_plain(rule)}" for number, rule in enumerate(passage.rules, 1))
    if passage.facts:
        yield "\n".join(
            f"- {_plain(fact.name)}: {_plain(fact.value)}" + (f" ({_plain(fact.note)})" if fact.note else "")
            for fact in passage.facts
        )
    if passage.table is not None:
        yield _rows(passage.table)
    if passage.verbatim:
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", passage.verbatim)), default=0))
        yield f"{fence}\n{passage.verbatim}\n{fence}"


def _result(result: Result, folder: str, pictures: dict[str, str]) -> Iterator[str]:
    yield f"#### {_plain(result.title)}"
    yield f"`{result.name}`"
    if result.note:
        yield _plain(result.note)
    name = f"{file_name(result.name)}.svg"
    try:
        if result.figure is not None and result.rows:
            pictures[name] = picture_of(result)
            yield f"![{_plain(in_words(result))}]({folder}/{name})"
    except CannotDraw as error:
        yield f"It is not drawn: {_plain(str(error))}."
    yield _read(result) if result.rows else "No post answers it: the table is empty."
    if result.comparisons:
        yield f"Beside the paper: {beside.told(tally(result.comparisons))}."
        yield _comparisons(result.comparisons)


def _comparisons(items: tuple[Comparison, ...]) -> str:
    rows = [
        (
            f"{item.what} ({item.note})" if item.note else item.what,
            _SIGNS[verdict(item)],
            beside.ours(item),
            beside.published(item),
            beside.difference(item),
            item.source,
        )
        for item in items
    ]
    columns = ("figure", "verdict", "here", "in the paper", "difference", "printed in")
    return table(columns, rows, frozenset((2, 3, 4)))


def _read(result: Result) -> str:
    reading = for_reading(result)
    return f"{_plain(reading.caption)}\n\n{_rows(reading.table, reading.places)}".lstrip()


def _rows(result: Result, same: int | None = None) -> str:
    values = list(zip(*result.rows, strict=True))
    numbers = [all(value is None or isinstance(value, int | float) for value in column) for column in values]
    places = [
        None if not number else places_for(column) if same is None or index == 0 else same
        for index, (column, number) in enumerate(zip(values, numbers, strict=True))
    ]
    rows = [
        tuple(said(value, name, place) for value, name, place in zip(row, result.columns, places, strict=True))
        for row in result.rows[:_MOST_ROWS]
    ]
    told = table(result.columns, rows, frozenset(index for index, number in enumerate(numbers) if number))
    more = len(result.rows) - _MOST_ROWS
    return f"{told}\n\nand {more:,} more rows" if more > 0 else told


def _threats(report: Report) -> Iterator[str]:
    if report.threats:
        yield "## Threats to validity"
        yield "\n".join(
            f"- **{_plain(threat.title)}**{' (can change a conclusion)' if threat.weight == 'grave' else ''}: "
            f"{_plain(threat.text)}"
            for threat in report.threats
        )
