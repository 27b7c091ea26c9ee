"""All that method and threats are told from, gathered once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sleuth.study.label.agreement import Agreement
from sleuth.study.label.sample import Sample
from sleuth.study.published import Study
from sleuth.study.report.holdings import Holdings
from sleuth.study.report.lineage import Lineage
from sleuth.study.report.raters import Rated
from sleuth.study.result import Result


@dataclass(frozen=True)
class Known:
    """A corpus, the labels of its posts, and what came out. `subjects` are the posts that the analyses count."""

    # Of the posts that the analyses count.
    holdings: Holdings
    in_corpus: dict[str, int]
    lineage: Lineage
    subjects: int
    results: tuple[Result, ...] = ()
    study: Study | None = None
    # The codebooks that the results are about.
    schemes: frozenset[str] = frozenset()
    rated: tuple[Rated, ...] = ()
    agreements: tuple[Agreement, ...] = ()
    disputed: Mapping[str, int] | None = None
    # Labels of posts that the corpus does not hold.
    strangers: int = 0
    # Lines of the labels file that a kill has torn.
    torn: int = 0
    sample: Sample | None = None
    # (key, scheme, label), as the analyses count them.
    settled: tuple[tuple[str, str, str], ...] = ()
    labels_file: str = ""
    engine: str = "duckdb"
    command: str = ""
