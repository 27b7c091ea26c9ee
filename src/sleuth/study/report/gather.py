"""From a corpus and its labels to everything a report says: the analyses are run, the method and the threats told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from sleuth import __version__
from sleuth.study import engine
from sleuth.study.analyses import Skipped, load_analysis, names_for, run
from sleuth.study.corpus import Corpus
from sleuth.study.label.sample import Sample
from sleuth.study.label.store import Labels
from sleuth.study.material import Material
from sleuth.study.material import gather as gather_material
from sleuth.study.published import Study
from sleuth.study.report.beside import told
from sleuth.study.report.content import Fact, NotRun, Report, tally
from sleuth.study.report.findings import findings
from sleuth.study.report.holdings import holdings, kinds
from sleuth.study.report.known import Known
from sleuth.study.report.lineage import lineage
from sleuth.study.report.method import method
from sleuth.study.report.numbers import count
from sleuth.study.report.raters import agreements, rated
from sleuth.study.report.threats import threats
from sleuth.study.result import Result
from sleuth.study.schemes import Settled, settle

# The page draws the funnel itself, from the manifests.
_TOLD_ELSEWHERE = ("funnel",)

Tell = Callable[[int, int], None]


@dataclass(frozen=True)
class Asked:
    """What a report is to be about."""

    corpus: Corpus
    labels: Labels | None = None
    labels_file: str = ""
    study: Study | None = None
    sample: Sample | None = None
    engine: str = engine.EMBEDDED
    command: str = ""


def gather(asked: Asked, tell: Tell = lambda done, total: None) -> Report:
    """Run everything. `tell` hears how many of the analyses are done. Raises what the engine raises."""
    connection = engine.connect(asked.engine)
    settled = None if asked.labels is None else settle(asked.labels)
    material = gather_material(connection, asked.corpus, settled, asked.study)
    results, skipped = _run(material, tell)
    known = _known(asked, connection, material, settled, results)
    return Report(
        title=asked.study.title if asked.study else _title(known),
        subtitle=_subtitle(known),
        made=f"Made by Sleuth {__version__} on {datetime.now(timezone.utc):%Y-%m-%d at %H:%M} UTC",
        headline=_headline(known, skipped),
        funnel=known.lineage.funnel,
        method=method(known),
        results=results,
        threats=threats(known),
        not_run=skipped,
    )


def _run(material: Material, tell: Tell) -> tuple[tuple[Result, ...], tuple[NotRun, ...]]:
    names = [name for name in names_for(material.study) if name not in _TOLD_ELSEWHERE and _is_of(name, material.study)]
    results: list[Result] = []
    skipped: list[Skipped] = []
    for done, name in enumerate(names):
        tell(done, len(names))
        for outcome in _outcomes(material, name):
            if isinstance(outcome, Skipped):
                skipped.append(outcome)
            else:
                results.append(outcome)
    return tuple(results), _not_run(skipped)


def _outcomes(material: Material, name: str) -> Iterator[Result | Skipped]:
    """One analysis that fails leaves the others standing, and is told as what it is."""
    try:
        yield from run(material, [name])
    except Exception as error:
        yield Skipped(name, f"it failed inside Sleuth: {type(error).__name__}: {error}")


def _is_of(name: str, study: Study | None) -> bool:
    return study is None or study.name in load_analysis(name).STUDIES


def _not_run(skipped: Iterable[Skipped]) -> tuple[NotRun, ...]:
    """One line for an analysis and a reason, however many codebooks it was tried with."""
    tried: dict[tuple[str, str], list[str]] = {}
    for each in skipped:
        name, _, scheme = each.name.partition(":")
        tried.setdefault((name, each.why), []).extend([scheme] if scheme else [])
    return tuple(
        NotRun(name, load_analysis(name).TITLE, why + (f" ({', '.join(schemes)})" if schemes else ""))
        for (name, why), schemes in tried.items()
    )


def _known(
    asked: Asked, connection: Any, material: Material, settled: Settled | None, results: tuple[Result, ...]
) -> Known:
    schemes = _schemes(material, results)
    labels = asked.labels or ()
    posts = engine.posts(connection, asked.corpus)
    held = holdings(posts.semi_join(material.subjects, "key"))
    return Known(
        holdings=held,
        in_corpus=kinds(posts),
        lineage=lineage(asked.corpus),
        subjects=held.posts,
        results=results,
        study=asked.study,
        schemes=frozenset(schemes),
        rated=tuple(rated(labels, schemes)),
        agreements=tuple(agreements(labels, schemes)),
        disputed={scheme: posts for scheme, posts in material.disputed.items() if scheme in schemes},
        strangers=material.strangers,
        torn=asked.labels.torn if asked.labels else 0,
        sample=asked.sample,
        settled=tuple((row[0], row[1], row[-1]) for row in settled.rows) if settled else (),
        labels_file=asked.labels_file,
        engine=asked.engine,
        command=asked.command,
    )


def _schemes(material: Material, results: tuple[Result, ...]) -> set[str]:
    """The codebooks that this report is about: of a study its own, otherwise all that some analysis used."""
    return {scheme for result in results for scheme in result.name.split(":")[1:]} & set(material.schemes)


def _title(known: Known) -> str:
    """The preset's own; filters typed by hand have no title to speak of."""
    titles = [
        str(preset["title"])
        for preset in known.lineage.presets
        if preset.get("title") and preset.get("name") != "filters"
    ]
    return titles[-1] if titles else "A study of posts"


def _subtitle(known: Known) -> str:
    source = f"Set beside {known.study.source}. " if known.study else ""
    of_all = "" if known.subjects == sum(known.in_corpus.values()) else f" of {sum(known.in_corpus.values()):,}"
    sites = list(known.holdings.sites)
    where = ", ".join(sites[:3]) + (f" and {len(sites) - 3} more" if len(sites) > 3 else "")
    return f"{source}{known.subjects:,}{of_all} posts{f' from {where}' if where else ''}"


def _headline(known: Known, skipped: tuple[NotRun, ...]) -> tuple[Fact, ...]:
    counted = tally(item for result in known.results for item in result.comparisons)
    facts = [Fact("posts studied", f"{known.subjects:,}", known.holdings.dates)]
    if known.rated:
        most = max(known.rated, key=lambda rated: rated.posts)
        raters = {rater for rated in known.rated for rater in rated.independent}
        note = f"{count(len(known.rated), 'codebook')}, {count(len(raters), 'rater') if raters else 'settled'}"
        facts.append(Fact("posts labelled", f"{most.posts:,}", note))
    if counted.total:
        facts.append(Fact("figures as published", f"{counted.same:,} of {counted.total:,}", _rest(told(counted))))
    note = f"{len(skipped):,} could not be run" if skipped else "all that there are"
    facts.append(Fact("tables and figures", f"{len(known.results):,}", note))
    return (*facts, *findings(known.results))


def _rest(told: str) -> str:
    return told.partition(", ")[2] or "none differs"
