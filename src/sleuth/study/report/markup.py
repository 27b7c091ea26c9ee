"""Pieces of HTML that every part of the page is made of: tables, facts, verdicts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from sleuth.study.report import beside
from sleuth.study.report.content import Fact, Verdict, verdict
from sleuth.study.report.figures import NARROW, WIDE
from sleuth.study.report.figures.canvas import safe
from sleuth.study.report.numbers import is_number, places_for, said
from sleuth.study.result import Comparison, Result

# A page that holds more rows is slow to open and read by nobody; the CSV has them all.
MOST_ROWS = 400
_LONG = 40
_NUMBERS = ("here", "in the paper", "difference")
_SIGNS: dict[Verdict, tuple[str, str]] = {
    "same": ("✓", "same"),
    "differs": ("≠", "differs"),
    "not computed": ("–", "unknown"),
}


def table(result: Result, caption: str = "", places: int | None = None) -> str:
    """Its rows, with the first column as their names; sortable once the page's script runs."""
    columns = [_Column(name, [row[index] for row in result.rows], places) for index, name in enumerate(result.columns)]
    head = "".join(f'<th scope="col"{column.attributes}>{safe(column.name)}</th>' for column in columns)
    rows = "".join(_row(row, columns) for row in result.rows[:MOST_ROWS])
    if len(result.rows) > MOST_ROWS:
        caption = f"{caption}; the first {MOST_ROWS:,} of {len(result.rows):,} rows".removeprefix("; ")
    above = f"<caption>{safe(caption)}</caption>" if caption else ""
    return scrollable(
        f'<table class="sortable">{above}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>',
        f"{result.title}: table",
    )


def scrollable(inner: str, label: str) -> str:
    """What may be wider or longer than there is room for, reachable by the keyboard too."""
    return f'<div class="scroll" role="region" aria-label="{safe(label)}" tabindex="0">{inner}</div>'


def drawn(make: Callable[[float], str], caption: str = "") -> str:
    """Drawn twice, for a wide page and for a phone; the style shows one of them."""
    wide, narrow = make(WIDE), make(NARROW)
    told = f'<figcaption class="note">{safe(caption)}</figcaption>' if caption else ""
    return f'<figure class="drawn"><div class="wide">{wide}</div><div class="narrow">{narrow}</div>{told}</figure>'


def facts(items: tuple[Fact, ...]) -> str:
    if not items:
        return ""
    rows = "".join(f"<dt>{safe(fact.name)}</dt><dd>{safe(fact.value)}{small(fact.note)}</dd>" for fact in items)
    return f'<dl class="facts">{rows}</dl>'


def comparisons(items: tuple[Comparison, ...], title: str) -> str:
    """Each number beside the paper's own. What differs is told by a word, a sign and a bar, and by colour last."""
    if not items:
        return ""
    source, note = _shared([item.source for item in items]), _shared([item.note for item in items])
    rows = "".join(_comparison(item, not source, not note) for item in items)
    names = ("figure", "verdict", *_NUMBERS, *(() if source else ("printed in",)))
    heads = "".join(f'<th scope="col"{" class=n" if name in _NUMBERS else ""}>{name}</th>' for name in names)
    caption = "; ".join(part for part in (f"Printed in {source}" if source else "", note) if part)
    above = f"<caption>{prose(caption)}</caption>" if caption else ""
    inner = f'<table class="sortable stack">{above}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return scrollable(inner, f"{title}: beside the published figures")


def prose(text: str) -> str:
    """Text in which `this` is code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", safe(text))


def _shared(texts: list[str]) -> str:
    """What all of them say, to be said once."""
    return texts[0] if len(texts) > 1 and len(set(texts)) == 1 else ""


def badge(judged: Verdict) -> str:
    sign, kind = _SIGNS[judged]
    return f'<span class="verdict {kind}">{sign} {judged}</span>'


def _comparison(item: Comparison, with_source: bool, with_note: bool) -> str:
    judged = verdict(item)
    odd = ' class="odd"' if judged == "differs" else ""
    note = small(item.note) if with_note else ""
    source = f"<td>{safe(item.source)}</td>" if with_source else ""
    return (
        f'<tr{odd}><th scope="row">{safe(item.what)}{note}</th><td>{badge(judged)}</td>'
        f'<td class="n" data-label="here" data-value="{_value(item.ours)}">{beside.ours(item)}</td>'
        f'<td class="n" data-label="paper" data-value="{_value(item.published)}">{beside.published(item)}</td>'
        f'<td class="n" data-label="difference" data-value="{_value(item.difference)}">{beside.difference(item)}</td>'
        f"{source}</tr>"
    )


class _Column:
    """How the cells of one column are written."""

    def __init__(self, name: str, values: list[Any], places: int | None) -> None:
        self.name = name
        known = [value for value in values if value is not None]
        self.numeric = bool(known) and all(isinstance(value, int | float) and value is not True for value in known)
        self.places = None if not self.numeric else places_for(known) if places is None else places
        long = any(len(str(value)) > _LONG for value in known)
        kinds = " ".join(kind for kind, holds in (("n", self.numeric), ("long", long)) if holds)
        self.attributes = f' class="{kinds}"' if kinds else ""

    def cell(self, value: Any) -> str:
        return prose(said(value, self.name, self.places))


def _row(row: tuple[Any, ...], columns: list[_Column]) -> str:
    cells = []
    for index, (value, column) in enumerate(zip(row, columns, strict=True)):
        name, scope = ("td", "") if index else ("th", ' scope="row"')
        kind = f' class="n" data-value="{_value(value)}"' if column.numeric else ""
        cells.append(f"<{name}{scope}{kind}>{column.cell(value)}</{name}>")
    return f"<tr>{''.join(cells)}</tr>"


def _value(value: Any) -> str:
    return repr(value) if is_number(value) else ""


def small(note: str) -> str:
    return f'<span class="small-note">{prose(note)}</span>' if note else ""
