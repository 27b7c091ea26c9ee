"""How the figures came about: where the posts are from, how they were selected, labelled and computed."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sleuth.amounts import in_bytes
from sleuth.study.label.agreement import Agreement
from sleuth.study.label.codebook import Codebook, codebook_names, load_codebook
from sleuth.study.label.coefficients import Estimate
from sleuth.study.report.content import Fact, Passage
from sleuth.study.report.known import Known
from sleuth.study.report.numbers import MISSING, count
from sleuth.study.result import Result
from sleuth.study.schemes import ROLES, role_of

_PACKAGES = ("sleuth-ml", "duckdb", "ibis-framework", "pyarrow", "scipy", "pyspark")


def method(known: Known) -> tuple[Passage, ...]:
    parts = (_origin, _selection, _labels, _sample, _agreement, _codebooks, _computation)
    return tuple(passage for part in parts for passage in part(known))


def _origin(known: Known) -> Iterator[Passage]:
    held, lineage = known.holdings, known.lineage
    facts = [
        Fact("in the corpus", count(sum(known.in_corpus.values()), "post"), _by(known.in_corpus)),
        Fact("studied", count(held.posts, "post"), _by(held.kinds)),
        Fact("written", held.dates or "no post has a date"),
        Fact("sites", _by(held.sites)),
    ]
    if lineage.taken_in is not None and len(lineage.manifests) > 1:
        facts.append(Fact("taken in", count(lineage.taken_in, "post"), "before any selection"))
    facts.append(Fact("set aside", count(lineage.set_aside, "row"), "that could not be read"))
    rows = tuple(_source(source) for source in lineage.sources)
    columns = ("file", "format", "size", "posts", "set aside", "left out")
    table = Result("sources", "What was taken in", columns, rows) if rows else None
    yield Passage("Where the posts come from", facts=tuple(facts), table=table)


def _source(source: dict[str, Any]) -> tuple[Any, ...]:
    size = source.get("bytes")
    return (
        Path(str(source.get("path", ""))).name,
        source.get("format"),
        None if size is None else in_bytes(size),
        source.get("posts"),
        source.get("set_aside"),
        source.get("left_out"),
    )


def _selection(known: Known) -> Iterator[Passage]:
    for preset in known.lineage.presets:
        source = f" After {preset['source']}." if preset.get("source") else ""
        yield Passage(
            f"Selection: {preset.get('title') or preset.get('name', '')}",
            f"By the preset {preset.get('name', '')}.{source} Its text, as it was used:",
            verbatim=str(preset.get("text", "")).strip(),
            folded=True,
        )
    if not known.lineage.presets:
        yield Passage("Selection", "None: these are all posts that were taken in.")


def _labels(known: Known) -> Iterator[Passage]:
    if not known.rated:
        return
    rows = tuple(
        (rated.scheme, rated.posts, rated.labels, ", ".join(rated.raters), rated.rounds, rated.by_several)
        for rated in known.rated
    )
    columns = ("codebook", "posts", "labels", "raters", "rounds", "posts of two raters or more")
    text = (
        "A post counts with the label its raters agree on, or, where somebody has settled it (the rater “final”), with "
        "that one. Of several rounds the last counts. Posts whose raters differ are left out."
    )
    facts = (Fact("file", Path(known.labels_file).name),) if known.labels_file else ()
    yield Passage("Labels", text, facts, Result("labels", "Labels by codebook", columns, rows))


def _sample(known: Known) -> Iterator[Passage]:
    sample = known.sample
    if sample is None:
        return
    weights = {post.stratum: post.weight for post in sample.posts}
    rows = tuple(
        (stratum.name, stratum.population, stratum.sampled, weights.get(stratum.name)) for stratum in sample.strata
    )
    facts = (
        Fact("design", sample.design if sample.by is None else f"{sample.design} by {sample.by}"),
        Fact("drawn", f"{len(sample.posts):,} of {sample.population:,} posts"),
        Fact("seed", str(sample.seed), "the same seed draws the same posts"),
    )
    columns = ("stratum", "posts", "sampled", "weight")
    yield Passage("Sample", facts=facts, table=Result("sample", "Strata of the sample", columns, rows))


def _agreement(known: Known) -> Iterator[Passage]:
    if not known.agreements:
        return
    columns = ("codebook", "round", "raters", "posts", "percent agreed", "Cohen's κ", "Fleiss' κ", "Krippendorff's α")
    rows = tuple(_agreed(agreement) for agreement in known.agreements)
    text = "Over the posts that two or more raters read, before anything was settled; with 95 % intervals."
    yield Passage("Agreement of the raters", text, table=Result("agreement", "Agreement of the raters", columns, rows))


def _agreed(agreement: Agreement) -> tuple[Any, ...]:
    return (
        agreement.codebook,
        agreement.round,
        len(agreement.raters),
        agreement.posts,
        None if agreement.agree is None else 100 * agreement.agree,
        MISSING if agreement.cohen is None else estimate(agreement.cohen),
        estimate(agreement.fleiss),
        estimate(agreement.alpha),
    )


def estimate(value: Estimate) -> str:
    """`0.71 (0.65–0.77)`."""
    if value.value is None:
        return MISSING
    interval = "" if value.low is None or value.high is None else f" ({value.low:.2f}–{value.high:.2f})"
    return f"{value.value:.2f}{interval}"


def _codebooks(known: Known) -> Iterator[Passage]:
    used = dict.fromkeys(name for scheme in sorted(known.schemes) if (name := _codebook_of(scheme)))
    for name in used:
        codebook = load_codebook(name)
        rows = tuple((label.title, label.name, label.definition) for label in _shown(codebook))
        facts = (Fact("after", codebook.source),) if codebook.source else ()
        table = Result(name, f"Codebook: {codebook.title}", ("label", "name", "definition"), rows)
        yield Passage(f"Codebook: {codebook.title}", codebook.question, facts, table, rules=codebook.rules, folded=True)


def _shown(codebook: Codebook) -> Iterator[Any]:
    for label in codebook.under(None):
        yield label
        yield from codebook.under(label.name)


def _codebook_of(scheme: str) -> str | None:
    """The codebook of that name, or the one that asks the same question."""
    shipped = codebook_names()
    role = role_of(scheme)
    candidates = (scheme, *(ROLES[role] if role else ()))
    return next((name for name in candidates if name in shipped), None)


def _computation(known: Known) -> Iterator[Passage]:
    versions = ", ".join(f"{name} {found}" for name in _PACKAGES if (found := _version(name)))
    facts = (
        Fact("engine", known.engine, "every analysis is one Ibis expression, the same on every engine"),
        Fact("versions", versions),
        Fact("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
    )
    yield Passage("Computation", facts=facts, verbatim=known.command)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _by(counts: dict[str, int]) -> str:
    shown = [f"{name} {posts:,}" for name, posts in list(counts.items())[:8]]
    return ", ".join(shown) + (f" and {len(counts) - 8} more" if len(counts) > 8 else "")
