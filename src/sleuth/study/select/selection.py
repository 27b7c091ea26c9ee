"""A selection: the posts that pass every step of a preset, and how many were left after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis

from sleuth.study.select import filters
from sleuth.study.select.preset import Preset, Step


@dataclass(frozen=True)
class FunnelStep:
    """How many posts were left after a step. `posts` is None where people chose by hand, as the paper's authors did."""

    step: str
    posts: int | None
    kinds: Mapping[str, int]
    published: int | Mapping[str, int] | None = None

    def as_data(self) -> dict[str, Any]:
        """As it stands in a manifest."""
        data: dict[str, Any] = {"step": self.step, "posts": self.posts}
        if self.posts is not None:
            data["kinds"] = dict(self.kinds)
        if isinstance(self.published, Mapping):
            data |= {"published": sum(self.published.values()), "published_kinds": dict(self.published)}
        elif self.published is not None:
            data["published"] = self.published
        return data


@dataclass(frozen=True)
class Selection:
    """`table` is an expression, computed when it is asked for; the funnel is counted already."""

    table: Any
    funnel: tuple[FunnelStep, ...]

    @property
    def posts(self) -> int:
        """How many were left in the end."""
        return [step.posts for step in self.funnel if step.posts is not None][-1]


def select(table: Any, preset: Preset) -> Selection:
    """The posts of `table` that pass every step."""
    steps = [step for step in preset.steps if not step.by_hand]
    counted = count_table(table, steps).to_pyarrow().to_pylist()
    return Selection(selected_table(table, steps), _funnel(preset.steps, counted))


def count_table(table: Any, steps: list[Step]) -> Any:
    """How many posts of each kind got how far, as an expression: the whole funnel in one reading of the corpus."""
    passed = ibis.literal(len(steps))
    for number in reversed(range(len(steps))):
        # The dear filters, which read texts, are only asked about the posts that the cheap ones have left.
        passed = ibis.ifelse(filters.keep(table, steps[number].filters), passed, ibis.literal(number))
    kind = table.kind_of_post.fill_null("other")
    reached = table.select(kind=kind, passed=passed.cast("int64"))
    return reached.group_by("kind", "passed").aggregate(posts=reached.count())


def selected_table(table: Any, steps: list[Step]) -> Any:
    """The posts that pass every step, as an expression."""
    kept = table
    for step in steps:
        kept = kept.filter(filters.keep(kept, step.filters))
    return _with_accepted_times(kept, table)


def _with_accepted_times(kept: Any, table: Any) -> Any:
    """When an answer was accepted is known from the answer, which a selection of questions leaves behind."""
    answers = table.filter(table.kind_of_post == "answer")
    written = answers.group_by(answer_site=answers.site, answer_id=answers.id).aggregate(
        answered_ms=answers.created_ms.min()
    )
    joined = kept.left_join(written, (kept.site == written.answer_site) & (kept.accepted_answer == written.answer_id))
    known = ibis.coalesce(joined.accepted_ms, joined.answered_ms)
    return joined.mutate(accepted_ms=known).select(*table.columns)


def _funnel(steps: tuple[Step, ...], counted: list[dict[str, Any]]) -> tuple[FunnelStep, ...]:
    funnel, number = [_left("in the corpus", counted, 0)], 0
    for step in steps:
        if step.by_hand:
            funnel.append(FunnelStep(step.title, None, {}, step.published))
        else:
            number += 1
            funnel.append(_left(step.title, counted, number, step.published))
    return tuple(funnel)


def _left(title: str, counted: list[dict[str, Any]], number: int, published: Any = None) -> FunnelStep:
    kinds: Counter[str] = Counter()
    for row in counted:
        if row["passed"] >= number:
            kinds[row["kind"]] += row["posts"]
    return FunnelStep(title, kinds.total(), dict(sorted(kinds.items())), published)
