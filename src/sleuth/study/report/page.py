"""The report as one page: no network, no outside script, readable on a phone, in the dark, on paper and by ear."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from sleuth.study.report import beside, markup
from sleuth.study.report.content import Fact, Passage, Report, Threat, tally
from sleuth.study.report.figures import CannotDraw, draw
from sleuth.study.report.figures.canvas import safe
from sleuth.study.report.funnel_section import funnel_section
from sleuth.study.report.groups import grouped
from sleuth.study.report.marks import published_marks
from sleuth.study.report.numbers import count
from sleuth.study.report.pivot import for_reading
from sleuth.study.result import Result

_FOLDER = Path(__file__).parent
_WEIGHT = {"grave": "can change a conclusion", "minor": "to keep in mind"}


def html(report: Report, progress: Callable[[int, int], None] = lambda done, total: None) -> str:
    """The whole page. `progress` is told how many of the analyses are drawn."""
    sections = _sections(report, progress)
    style, script = _style(), _read("page.js")
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'"
    body = "".join(f'<section id="{name}"><h2>{safe(title)}</h2>{inner}</section>' for name, title, inner in sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{safe(report.title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#summary">Skip to the report</a>
<div class="frame">
<header><h1>{safe(report.title)}</h1><p>{safe(report.subtitle)}</p></header>
<nav aria-label="Contents">{_contents(report, sections)}</nav>
<main>{body}</main>
<footer>{safe(report.made)}</footer>
</div>
<script>{script}</script>
</body>
</html>
"""


def _sections(report: Report, progress: Callable[[int, int], None]) -> list[tuple[str, str, str]]:
    """Identifier, title and content of each part that has something to say: what came out, then how."""
    parts = [
        ("summary", "In short", _summary(report)),
        ("results", "Results", _results(report, progress)),
        ("threats", "Threats to validity", _threats(report.threats)),
        ("funnel", "How the posts were selected", funnel_section(report.funnel)),
        ("method", "Method", "".join(_passage(passage) for passage in report.method)),
        ("not-run", "Analyses that could not be run", _not_run(report)),
    ]
    return [part for part in parts if part[2]]


def _contents(report: Report, sections: list[tuple[str, str, str]]) -> str:
    items = []
    for name, title, _ in sections:
        inner = _contents_of_results(report) if name == "results" else ""
        items.append(f'<li><a href="#{name}">{safe(title)}</a>{inner}</li>')
    return f"<details open><summary>Contents</summary><ol>{''.join(items)}</ol></details>"


def _contents_of_results(report: Report) -> str:
    return "".join(
        f'<p class="group">{safe(title)}</p><ol>{"".join(map(_contents_item, members))}</ol>'
        for title, members in grouped(report.results)
    )


def _contents_item(result: Result) -> str:
    differ = tally(result.comparisons).differ
    mark = f' <span class="mark" title="{differ} differ from the paper">≠ {differ}</span>' if differ else ""
    return f'<li><a href="#{anchor(result.name)}">{safe(result.title)}{mark}</a></li>'


def anchor(name: str) -> str:
    """An identifier for a place in the page."""
    return "a-" + re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")


def _summary(report: Report) -> str:
    cards = "".join(_card(fact) for fact in report.headline)
    return f'<dl class="headline">{cards}</dl>{_differences(report)}'


def _card(fact: Fact) -> str:
    note = f'<dd class="note">{safe(fact.note)}</dd>' if fact.note else ""
    # A name is longer than a number, and needs to be read, not seen from afar.
    kind = "" if fact.value[:1].isdigit() else ' class="word"'
    return f"<div><dt>{safe(fact.name)}</dt><dd{kind}>{safe(fact.value)}</dd>{note}</div>"


def _differences(report: Report) -> str:
    """Whoever reads one table only should read this one: what did not come out as printed."""
    differ = [(result, item) for result, item in report.comparisons if item.ours is not None and not item.same]
    total = len(report.comparisons)
    if not total:
        return (
            '<p class="lead">No published figures stand beside these: the corpus is not one of the four studies\'.</p>'
        )
    if not differ:
        return f'<p class="lead">{_all_same(tally(item for _, item in report.comparisons).same, total)}</p>'
    rows = "".join(
        f'<tr class="odd"><th scope="row"><a href="#{anchor(result.name)}">{safe(result.title)}</a></th>'
        f'<td>{safe(item.what)}</td><td class="n" data-label="here">{beside.ours(item)}</td>'
        f'<td class="n" data-label="paper">{beside.published(item)}</td>'
        f'<td class="n" data-label="difference">{beside.difference(item)}</td></tr>'
        for result, item in differ[: markup.MOST_ROWS]
    )
    head = (
        '<th scope="col">analysis</th><th scope="col">figure</th><th scope="col" class="n">here</th>'
        '<th scope="col" class="n">in the paper</th><th scope="col" class="n">difference</th>'
    )
    inner = f'<table class="stack"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f"<h3>{count(len(differ), 'figure')} of {total:,} not as published</h3>" + markup.scrollable(
        inner, "Figures that differ from the published ones"
    )


def _all_same(same: int, total: int) -> str:
    return f"{same:,} of {total:,} published figures were computed, and all of them came out as printed."


def _passage(passage: Passage) -> str:
    text = "".join(f"<p>{markup.prose(line)}</p>" for line in passage.text.split("\n") if line.strip())
    rules = "".join(f"<li>{markup.prose(rule)}</li>" for rule in passage.rules)
    rules = f'<ol class="rules">{rules}</ol>' if rules else ""
    verbatim = f"<pre>{safe(passage.verbatim)}</pre>" if passage.verbatim else ""
    table = markup.table(passage.table) if passage.table else ""
    inner = f"{text}{rules}{markup.facts(passage.facts)}{table}{verbatim}"
    if passage.folded:
        return f'<details class="card folded"><summary>{safe(passage.title)}</summary>{inner}</details>'
    return f'<div class="card"><h3>{safe(passage.title)}</h3>{inner}</div>'


def _results(report: Report, progress: Callable[[int, int], None]) -> str:
    parts = []
    done = 0
    for title, members in grouped(report.results):
        parts.append(f'<h3 class="group">{safe(title)}</h3>')
        for result in members:
            progress(done, len(report.results))
            parts.append(_result(result))
            done += 1
    return "".join(parts)


def _result(result: Result) -> str:
    marks = published_marks(result)
    try:
        drawn = "" if result.figure is None else markup.drawn(lambda width: draw(result, width, marks))
    except CannotDraw as error:
        drawn = f'<p class="note">It is not drawn: {safe(error)}.</p>'
    note = f'<p class="note">{markup.prose(result.note)}</p>' if result.note else ""
    table = _tables(result) if result.rows else '<p class="note">No post answers it: the table is empty.</p>'
    return (
        f'<article class="card" id="{anchor(result.name)}"><h4>{safe(result.title)}</h4>'
        f'<p class="name">{safe(result.name)}</p>{note}{drawn}{table}{_beside(result)}</article>'
    )


def _tables(result: Result) -> str:
    """As people read it; and the whole of it, where that leaves columns out."""
    reading = for_reading(result)
    read = markup.table(reading.table, reading.caption, reading.places)
    if reading.table is result or len(result.columns) == 3:
        return read
    whole = f"<summary>The whole table: {count(len(result.rows), 'row')}</summary>{markup.table(result)}"
    return f"{read}<details>{whole}</details>"


def _beside(result: Result) -> str:
    if not result.comparisons:
        return ""
    counted = tally(result.comparisons)
    return f"<h5>Beside the paper: {beside.told(counted)}</h5>" + markup.comparisons(result.comparisons, result.title)


def _threats(threats: tuple[Threat, ...]) -> str:
    items = "".join(
        f'<li class="threat {threat.weight}"><b>{safe(threat.title)}</b>'
        f'<span class="weight">{_WEIGHT[threat.weight]}</span><p>{markup.prose(threat.text)}</p></li>'
        for threat in sorted(threats, key=lambda threat: threat.weight != "grave")
    )
    return f'<ul class="card">{items}</ul>' if items else ""


def _not_run(report: Report) -> str:
    if not report.not_run:
        return ""
    columns = ("analysis", "name", "why not")
    rows = tuple((item.title, item.name, item.why) for item in report.not_run)
    return f'<div class="card">{markup.table(Result("not-run", "Analyses that could not be run", columns, rows))}</div>'


@cache
def _style() -> str:
    return _read("page.css") + _read("figures/figures.css")


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
