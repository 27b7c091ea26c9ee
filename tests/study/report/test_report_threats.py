"""Threats to validity: each is told when it holds, with its numbers, and not told when it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from analysis_material import at

from sleuth.study.label.agreement import Agreement
from sleuth.study.label.coefficients import Estimate
from sleuth.study.label.sample import Drawn, Sample, Stratum
from sleuth.study.published import load_study
from sleuth.study.report.content import Threat
from sleuth.study.report.holdings import Holdings
from sleuth.study.report.known import Known
from sleuth.study.report.lineage import Lineage
from sleuth.study.report.raters import Rated
from sleuth.study.report.threats import threats
from sleuth.study.report.weights import largest_shift
from sleuth.study.result import Comparison, Result

HEALTHY = Holdings(
    posts=1000,
    kinds={"question": 1000},
    sites={"stackoverflow": 600, "github": 400},
    first_ms=at("2015-01-02"),
    last_ms=at("2020-12-30"),
    repeated=0,
    without_text=0,
    without_title=0,
    without_tags=0,
    without_views=0,
    without_score=0,
    without_created_ms=0,
    accepted=400,
)
TWO_RATERS = Rated("kinds", 1000, 2000, ("ann", "bob"), 1, 1000, 0)


def known(**said: Any) -> Known:
    plain = Known(HEALTHY, {"question": 1000}, Lineage(({"posts": 1000, "set_aside": 0},)), 1000, rated=(TWO_RATERS,))
    held = {name: said.pop(name) for name in list(said) if name in Holdings.__dataclass_fields__}
    return replace(plain, holdings=replace(HEALTHY, **held), **said)


def told(about: Known) -> list[str]:
    return [threat.title for threat in threats(about)]


def only(about: Known) -> Threat:
    (threat,) = threats(about)
    return threat


def test_a_corpus_without_a_fault_has_no_threat() -> None:
    assert told(known()) == []


@pytest.mark.parametrize(
    ("said", "title", "weight"),
    [
        ({"without_text": 400}, "40.0 % of the posts have no body", "minor"),
        ({"without_text": 600}, "60.0 % of the posts have no body", "grave"),
        ({"without_views": 10}, "1.0 % of the posts have no views", "minor"),
        ({"without_tags": 501}, "50.1 % of the posts have no tags", "grave"),
        ({"repeated": 3}, "3 posts more than once", "minor"),
        ({"sites": {"stackoverflow": 1000}}, "One source only", "minor"),
        ({"accepted": 1000}, "Every post has an accepted answer", "grave"),
        ({"strangers": 7}, "7 labels of posts that are not in this corpus", "minor"),
        ({"torn": 1}, "1 torn line in the labels file", "minor"),
        ({"disputed": {"kinds": 20}}, "20 disputed posts left out", "minor"),
        ({"disputed": {"kinds": 200}}, "200 disputed posts left out", "grave"),
        ({"lineage": Lineage(({"posts": 1},), "old")}, "Where the posts come from cannot be told", "minor"),
    ],
)
def test_what_is_wrong_with_the_posts_is_told_with_its_number(said: dict[str, Any], title: str, weight: str) -> None:
    threat = only(known(**said))
    assert (threat.title, threat.weight) == (title, weight)


def test_a_source_that_has_no_views_at_all_lacks_nothing() -> None:
    assert told(known(without_views=1000)) == []


def test_rows_set_aside_count_along_the_whole_chain() -> None:
    chain = Lineage(({"posts": 1000, "from": "x"}, {"posts": 5000, "set_aside": 50}))
    threat = only(known(lineage=chain))
    assert threat.title == "50 rows set aside"
    assert threat.text.startswith("1.0 % of what was taken in")


def test_a_year_that_is_cut_off_is_named() -> None:
    threat = only(known(first_ms=at("2014-07-03"), last_ms=at("2021-09-01")))
    assert threat.text.startswith("2014 begins on 3 July and 2021 ends on 1 September")
    assert told(known(first_ms=None, last_ms=None)) == []


def test_one_rater_is_grave_and_settled_labels_are_named() -> None:
    alone = replace(TWO_RATERS, raters=("ann",), by_several=0)
    assert only(known(rated=(alone,))).weight == "grave"
    final = replace(TWO_RATERS, raters=("final",), by_several=0, settled=1000)
    assert told(known(rated=(final,))) == ["Only settled labels"]
    partly = replace(TWO_RATERS, by_several=250)
    assert told(known(rated=(partly,))) == ["75.0 % of the posts labelled by one rater"]


def test_little_agreement_is_grave_and_only_the_last_round_counts() -> None:
    nothing = Estimate(None, None, None, 0)

    def round_of(number: int, alpha: float) -> Agreement:
        value = Estimate(alpha, None, None, 100)
        return Agreement("kinds", number, ("ann", "bob"), 100, 0.5, None, nothing, nothing, 2, value, (), ())

    threat = only(known(agreements=(round_of(1, 0.9), round_of(2, 0.41))))
    assert threat.title == "Raters agree little on kinds"
    assert "alpha is 0.41 in round 2 (100 posts)" in threat.text
    assert told(known(agreements=(round_of(1, 0.2), round_of(2, 0.8)))) == []


def test_labels_on_a_part_need_a_sample() -> None:
    part = replace(TWO_RATERS, posts=300, by_several=300)
    assert "kinds 30.0 %" in only(known(rated=(part,))).text


def sample_of(sizes: dict[str, tuple[int, int]]) -> Sample:
    strata = tuple(Stratum(name, population, drawn) for name, (population, drawn) in sizes.items())
    posts = tuple(
        Drawn(f"{name}:{number}", name, population / drawn)
        for name, (population, drawn) in sizes.items()
        for number in range(drawn)
    )
    return Sample("corpus", 0, "year", strata, posts)


def test_weights_that_would_change_a_share_are_told_with_the_change() -> None:
    sample = sample_of({"old": (900, 50), "new": (100, 50)})
    settled = tuple((post.key, "kinds", "crash" if post.stratum == "old" else "slow") for post in sample.posts)
    shift = largest_shift(sample, settled)
    assert shift is not None
    assert (shift.unweighted, round(shift.weighted, 6)) == (50, 10 if shift.label == "slow" else 90)
    found = {threat.title: threat for threat in threats(known(sample=sample, settled=settled))}
    assert found["Shares are not weighted"].weight == "grave"
    assert "from 50.0 % to " in found["Shares are not weighted"].text
    assert any(title.startswith("A share is known to within ±9.3 %") for title in found)


def test_equal_weights_and_a_label_alike_everywhere_change_nothing() -> None:
    even = sample_of({"old": (500, 50), "new": (500, 50)})
    settled = tuple((post.key, "kinds", "crash") for post in even.posts)
    assert "Shares are not weighted" not in told(known(sample=even, settled=settled))
    uneven = sample_of({"old": (900, 50), "new": (100, 50)})
    alike = tuple((post.key, "kinds", "crash") for post in uneven.posts)
    (threat,) = (threat for threat in threats(known(sample=uneven, settled=alike)) if "weighted" in threat.title)
    assert threat.weight == "minor"


def test_a_sample_that_is_half_read_is_told() -> None:
    sample = sample_of({"all": (1000, 100)})
    settled = tuple((post.key, "kinds", "crash") for post in sample.posts[:50])
    found = {threat.title: threat.weight for threat in threats(known(sample=sample, settled=settled))}
    assert found["50 of the 100 sampled posts are labelled"] == "grave"


def test_medians_of_few_posts_are_named() -> None:
    rows = (("a", 10.0, 500), ("b", 20.0, 3), ("c", None, 0))
    result = Result("popularity:kinds", "P", ("label", "median views", "posts"), rows)
    assert only(known(results=(result,))).text.startswith("popularity:kinds: b. ")
    counts = Result("distribution:kinds", "D", ("label", "posts"), (("b", 3),))
    assert told(known(results=(counts,))) == []


def test_many_tests_are_counted() -> None:
    rows = tuple((f"pair {number}", 0.5, 0.01 if number < 4 else 0.6) for number in range(40))
    result = Result("framework_correlation", "C", ("pair", "Pearson", "Pearson p"), rows)
    threat = only(known(results=(result,)))
    assert threat.title == "40 tests"
    assert threat.text.startswith("4 of their p-values are below 0.05; about 2.0 would be by chance alone")


def test_another_corpus_than_the_papers_is_grave_and_the_same_one_names_what_differs() -> None:
    study = load_study("liu")
    assert only(known(study=study)).title == "Not the paper's corpus"
    result = Result("r", "R", ("a",), (), comparisons=(Comparison("x: posts", 1, 2, "s"), Comparison("y", 2, 2, "s")))
    same = known(study=study, results=(result,), subjects=study.posts)
    same = replace(same, rated=(replace(TWO_RATERS, posts=study.posts, by_several=study.posts),))
    assert only(same).title == "1 figure of 2 not reproduced"
    assert "x: posts" in only(same).text


def test_grave_threats_come_first() -> None:
    weights = [threat.weight for threat in threats(known(strangers=1, accepted=1000, torn=1, without_text=900))]
    assert weights == ["grave", "grave", "minor", "minor"]
