"""Are the labels spread alike over Stack Overflow and GitHub?"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from sleuth.study.correlation import holm, welch, welch_of_shares
from sleuth.study.material import GITHUB, OTHER, STACK_OVERFLOW, Material
from sleuth.study.result import Figure, Result
from sleuth.study.tables import CannotAnswer, collect, percent

TITLE = "Stack Overflow and GitHub: t-tests, label by label"
NEEDS = ("posts", "labels")
STUDIES = ("islam",)

_Counts = dict[str, Counter[str]]


def analyse(material: Material) -> Result:
    posts = material.labelled()
    posts = posts.filter(posts.platform.isin([STACK_OVERFLOW, GITHUB]))
    met = collect(posts.group_by("platform", "framework", "label").aggregate(n=posts.count()))
    sides: dict[str, _Counts] = {STACK_OVERFLOW: defaultdict(Counter), GITHUB: defaultdict(Counter)}
    for row in met:
        sides[row["platform"]][row["framework"]][row["label"]] += row["n"]
    asked, fixed = _total(sides[STACK_OVERFLOW]), _total(sides[GITHUB])
    if not asked or not fixed:
        raise CannotAnswer("the labelled posts are not from both Stack Overflow and GitHub")
    rows = [_tested(label, sides, asked, fixed) for label in sorted(asked | fixed)]
    corrected = holm([row[-1] for row in rows])
    table = [(*row, p) for row, p in zip(rows, corrected, strict=True)]
    return Result(
        name="stack_overflow_vs_github",
        title=TITLE,
        columns=(
            "label",
            STACK_OVERFLOW,
            GITHUB,
            "percent on Stack Overflow",
            "percent on GitHub",
            "t of libraries",
            "p of libraries",
            "t of posts",
            "p of posts",
            "p corrected",
        ),
        rows=tuple(sorted(table, key=lambda row: (-(row[1] + row[2]), row[0]))),
        figure=Figure("bars", x="label", y="p of posts"),
        note="Welch's t-tests: of the label's share in each library, as the paper does, and of the single posts;"
        " the latter also corrected (Holm) for testing so many labels.",
    )


def _total(side: _Counts) -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in side.values():
        total.update(counts)
    return total


def _tested(label: str, sides: dict[str, _Counts], asked: Counter[str], fixed: Counter[str]) -> tuple[Any, ...]:
    libraries = welch(_shares(sides[STACK_OVERFLOW], label), _shares(sides[GITHUB], label))
    posts = welch_of_shares(asked[label], asked.total(), fixed[label], fixed.total())
    there, here = percent(asked[label], asked.total()), percent(fixed[label], fixed.total())
    return (label, asked[label], fixed[label], there, here, libraries.value, libraries.p, posts.value, posts.p)


def _shares(side: _Counts, label: str) -> list[float]:
    return [counts[label] / counts.total() for library, counts in sorted(side.items()) if library != OTHER]
