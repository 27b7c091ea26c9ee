"""The order in which results are told: first what the posts are, then what they ask, then what follows from it."""

from __future__ import annotations

from sleuth.study.report.numbers import is_number
from sleuth.study.result import Result

_GROUPS: dict[str, tuple[str, ...]] = {
    "The posts": ("funnel", "sources", "frameworks", "growth"),
    "What they are about": ("distribution", "taxonomy", "object_by_verb"),
    "How that changes": ("evolution", "distribution_by_framework", "distribution_by_source"),
    "Popularity and difficulty": (
        "popularity",
        "difficulty",
        "popularity_difficulty_correlation",
        "popularity_against_difficulty",
    ),
    "Frameworks and sources compared": ("framework_correlation", "stack_overflow_vs_github"),
    "Causes, types, effects and stages": (
        "root_cause_by_type",
        "kind_by_root_cause",
        "root_cause_by_effect",
        "root_cause_by_stage",
        "type_by_effect",
        "type_by_stage",
        "type_by_fix",
        "stage_by_effect",
    ),
    "Numerical bugs": ("numerical_causes", "numerical_fixes"),
    "Classifiers": ("classifier",),
}
_ELSE = "More"


def grouped(results: tuple[Result, ...]) -> list[tuple[str, list[Result]]]:
    """Those groups that have results; a result that no group knows comes last."""
    found: dict[str, list[Result]] = {title: [] for title in (*_GROUPS, _ELSE)}
    for result in sorted(results, key=_place):
        found[_group(result)].append(result)
    return [(title, members) for title, members in found.items() if members]


def _analysis(result: Result) -> str:
    return result.name.partition(":")[0]


def _group(result: Result) -> str:
    return next((title for title, names in _GROUPS.items() if _analysis(result) in names), _ELSE)


def _place(result: Result) -> tuple[int, bool, float, int]:
    """Of one analysis, what a paper has printed comes first, then what covers most posts, then what is short."""
    order = [name for names in _GROUPS.values() for name in names]
    place = order.index(_analysis(result)) if _analysis(result) in order else len(order)
    return place, not result.comparisons, -_posts(result), len(result.rows)


def _posts(result: Result) -> float:
    if "posts" not in result.columns:
        return 0
    at = result.columns.index("posts")
    return sum(float(row[at]) for row in result.rows if is_number(row[at]))
