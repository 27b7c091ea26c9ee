"""Threats to validity, each computed from this very corpus: one that does not apply is not told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timezone

from sleuth.study.report.content import Threat
from sleuth.study.report.known import Known
from sleuth.study.report.numbers import count, percent
from sleuth.study.report.threats_of_labels import THREATS as OF_LABELS
from sleuth.study.report.threats_of_results import THREATS as OF_RESULTS

# A gap this wide can turn a figure round.
_GRAVE_SHARE = 0.5
_DAY_MS = 86_400_000
# A year that lacks less than this at one end is whole.
_SLACK_DAYS = 14


def threats(known: Known) -> tuple[Threat, ...]:
    """The grave ones first."""
    checks: tuple[Callable[[Known], Iterator[Threat]], ...] = (
        _set_aside,
        _lost_origin,
        _without_text,
        _missing_numbers,
        _repeated,
        _one_site,
        _all_accepted,
        _unfinished_years,
        *OF_LABELS,
        *OF_RESULTS,
    )
    found = [threat for check in checks for threat in check(known)]
    return tuple(sorted(found, key=lambda threat: threat.weight != "grave"))


def _set_aside(known: Known) -> Iterator[Threat]:
    lost = known.lineage.set_aside
    if lost:
        read = known.lineage.taken_in or sum(known.in_corpus.values())
        share = lost / (read + lost)
        yield Threat(
            f"{count(lost, 'row')} set aside",
            f"{percent(lost, read + lost)} of what was taken in could not be read, and is in no figure. "
            "set-aside.jsonl in the corpus has every one of them with the reason.",
            "grave" if share > 0.01 else "minor",
        )


def _lost_origin(known: Known) -> Iterator[Threat]:
    if known.lineage.lost:
        yield Threat(
            "Where the posts come from cannot be told",
            f"They were selected from a corpus called {known.lineage.lost}, which is no longer there.",
        )


def _without_text(known: Known) -> Iterator[Threat]:
    held = known.holdings
    if held.posts and held.without_text:
        share = held.without_text / held.posts
        yield Threat(
            f"{percent(held.without_text, held.posts)} of the posts have no body",
            f"{held.without_text:,} of {held.posts:,}: whoever labels or classifies them in this corpus sees the title "
            "alone.",
            "grave" if share > _GRAVE_SHARE else "minor",
        )


def _missing_numbers(known: Known) -> Iterator[Threat]:
    held = known.holdings
    for name, missing in (
        ("views", held.without_views),
        ("score", held.without_score),
        ("date", held.without_created_ms),
        ("tags", held.without_tags),
    ):
        # Issues and commits have no views at all: a source without them lacks nothing.
        if missing and missing < held.posts:
            spoilt = {"views": "popularity", "score": "popularity", "date": "years", "tags": "frameworks"}[name]
            yield Threat(
                f"{percent(missing, held.posts)} of the posts have no {name}",
                f"{missing:,} of {held.posts:,} are missing where {spoilt} are counted."
                if spoilt.endswith("s")
                else f"{missing:,} of {held.posts:,} are missing where {spoilt} is measured.",
                "grave" if missing > _GRAVE_SHARE * held.posts else "minor",
            )


def _repeated(known: Known) -> Iterator[Threat]:
    if known.holdings.repeated:
        yield Threat(
            f"{count(known.holdings.repeated, 'post')} more than once",
            "The corpus has them under one key several times, and the analyses of posts count each of them.",
            "grave" if known.holdings.repeated > 0.01 * known.holdings.posts else "minor",
        )


def _one_site(known: Known) -> Iterator[Threat]:
    sites = known.holdings.sites
    if len(sites) == 1:
        yield Threat(
            "One source only",
            f"All posts are of {next(iter(sites))}: what people ask elsewhere may differ.",
        )


def _all_accepted(known: Known) -> Iterator[Threat]:
    held = known.holdings
    if held.posts and held.accepted == held.posts:
        yield Threat(
            "Every post has an accepted answer",
            "What nobody could answer is not here: the time to the accepted answer is that of the solved ones, and "
            "difficulty is understated.",
            "grave",
        )


def _unfinished_years(known: Known) -> Iterator[Threat]:
    first, last = known.holdings.first_ms, known.holdings.last_ms
    if first is None or last is None:
        return
    cut = [told for told in (_cut_year(first, at_end=False), _cut_year(last, at_end=True)) if told]
    if cut:
        yield Threat(
            "Years that are cut off",
            f"{' and '.join(cut)}: their counts are not those of a whole year, and a fall at the end may be none.",
        )


def _cut_year(milliseconds: int, at_end: bool) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    start = datetime(moment.year, 1, 1, tzinfo=timezone.utc)
    end = datetime(moment.year + 1, 1, 1, tzinfo=timezone.utc)
    missing = (end - moment).days if at_end else (moment - start).days
    if missing <= _SLACK_DAYS:
        return ""
    return f"{moment.year} {'ends' if at_end else 'begins'} on {moment.day} {moment:%B}"
