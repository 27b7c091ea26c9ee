"""Analyses of a few posts, beside what one counts with pencil and paper."""

from __future__ import annotations

import statistics

import pytest
from analysis_material import DAY, answer, at, column, labels, material, post, refusal
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

BORN = at("2019-05-05")


def question(number: int, **said: object) -> dict[str, object]:
    return post(f"so:{number}", **{"created_ms": BORN, **said})


def test_distribution_counts_labels_and_gives_their_share():
    said = labels("kinds", {"so:1": "performance", "so:2": "performance", "so:3": "installation", "so:9": "other"})
    given_labels = answer(material([question(n) for n in (1, 2, 3)], said), "distribution")
    assert given_labels.rows == (
        ("performance", 2, pytest.approx(200 / 3)),
        ("installation", 1, pytest.approx(100 / 3)),
    )


def test_two_bugs_of_one_type_in_one_commit_count_twice():
    said = labels("bug-types", [("so:1", "data"), ("so:1", "data"), ("so:1", "api")])
    found = answer(material([question(1)], said), "distribution")
    assert found.rows[0][:2] == ("data", 2)
    assert "3 in all" in found.note


def test_a_post_whose_raters_differ_is_left_out_and_said_to_be():
    said = labels("kinds", {"so:1": "performance", "so:2": "other"}, "ann") + labels(
        "kinds", {"so:1": "other", "so:2": "other"}, "bob"
    )
    found = answer(material([question(1), question(2)], said), "distribution")
    assert found.rows == (("other", 1, 100.0),)
    assert "1 more are left out" in found.note


def test_popularity_takes_medians_and_means_and_puts_the_most_seen_first():
    views = {1: 10, 2: 30, 3: 1000, 4: 7}
    posts = [question(n, views=seen, score=n) for n, seen in views.items()]
    said = labels("phases", {"so:1": "a", "so:2": "a", "so:3": "a", "so:4": "b"})
    found = answer(material(posts, said), "popularity")
    assert found.rows[0] == ("a", 30, pytest.approx(1040 / 3), 2, 2, 3)
    assert found.rows[1][0] == "b"


def test_difficulty_finds_the_time_of_the_accepted_answer_itself():
    posts = [
        question(1, accepted_answer=10),
        question(2, accepted_ms=BORN + 3 * DAY),
        question(3),
        post("so:10", kind_of_post="answer", parent=1, created_ms=BORN + DAY, tags=None),
        # Merged questions: the answer was there first, and says nothing about waiting.
        question(4, accepted_ms=BORN - DAY),
    ]
    said = labels("phases", {f"so:{n}": "a" for n in (1, 2, 3, 4)})
    found = answer(material(posts, said), "difficulty")
    (row,) = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert (row["median days"], row["mean hours"], row["timed"]) == (2.0, 48.0, 2)
    assert (row["percent accepted"], row["posts"]) == (75.0, 4)


def test_an_answer_that_a_corpus_has_twice_does_not_double_its_question():
    reply = post("so:10", kind_of_post="answer", parent=1, created_ms=BORN + DAY)
    found = answer(material([question(1, accepted_answer=10), reply, reply]), "sources")
    assert found.rows[-1] == ("all", 1, 100.0)


def test_a_post_counts_for_the_first_framework_of_the_study():
    posts = [
        question(1, tags=["python", "pytorch", "tensorflow2.0"]),
        question(2, tags=["gpytorch"]),
        question(3, tags=["ajax", "not-theanos-brother"]),
        post("gh:pytorch/vision#issues/3"),
        question(4, tags=None),
    ]
    assert column(answer(material(posts, study="liu"), "frameworks"), "posts") == {
        "tensorflow": 1, "pytorch": 2, "theano": 1, "other": 1, "all": 5,
    }  # fmt: skip
    assert "jax" not in column(answer(material(posts), "frameworks"), "posts")


def test_evolution_gives_each_year_its_shares_and_fills_the_gaps():
    posts = [
        question(1, created_ms=at("2015-12-31")),
        question(2, created_ms=at("2016-01-01")),
        question(3, created_ms=at("2016-02-29")),
    ]
    said = labels("kinds", {"so:1": "installation", "so:2": "performance", "so:3": "installation"})
    assert answer(material(posts, said), "evolution").rows == (
        (2015, "installation", 1, 100.0), (2015, "performance", 0, 0.0),
        (2016, "installation", 1, 50.0), (2016, "performance", 1, 50.0),
    )  # fmt: skip


def test_frameworks_that_are_asked_the_same_correlate():
    counts = {"tensorflow": (5, 3, 1), "pytorch": (10, 6, 2), "theano": (1, 2, 3)}
    posts, said, number = [], [], 0
    for framework, amounts in counts.items():
        for label, amount in zip("abc", amounts, strict=True):
            for _ in range(amount):
                number += 1
                posts.append(question(number, tags=[framework]))
                said += labels("phases", {f"so:{number}": label})
    found = column(answer(material(posts, said), "framework_correlation"), "Pearson")
    assert found["pytorch ~ tensorflow"] == pytest.approx(1)
    assert found["pytorch ~ theano"] == pytest.approx(-1)


def test_stack_overflow_and_github_are_compared_label_by_label():
    asked = {f"so:{n}": "data" if n <= 8 else "api" for n in range(1, 11)}
    fixed = {f"gh:keras-team/keras#issues/{n}": "data" if n <= 2 else "api" for n in range(1, 11)}
    posts = [post(key, tags=["keras"]) for key in (*asked, *fixed)]
    found = answer(material(posts, labels("bug-types", {**asked, **fixed})), "stack_overflow_vs_github")
    (data,) = [dict(zip(found.columns, row, strict=True)) for row in found.rows if row[0] == "data"]
    expected = stats.ttest_ind([1] * 8 + [0] * 2, [1] * 2 + [0] * 8, equal_var=False)
    assert (data["t of posts"], data["p of posts"]) == (
        pytest.approx(expected.statistic),
        pytest.approx(expected.pvalue),
    )
    assert data["p corrected"] == pytest.approx(2 * expected.pvalue)
    assert data["t of libraries"] is None  # one library is no sample


def test_labels_of_one_bug_go_together_when_root_cause_meets_type():
    said = labels("root-causes", [("so:1", "api-change"), ("so:1", "api-misuse"), ("so:2", "api-change")])
    said += labels("bug-types", [("so:1", "api"), ("so:1", "data"), ("so:2", "api")])
    found = answer(material([question(1), question(2)], said), "root_cause_by_type")
    assert {row[:2]: row[2] for row in found.rows} == {
        ("api-change", "api"): 2, ("api-change", "data"): 0, ("api-misuse", "api"): 0, ("api-misuse", "data"): 1,
    }  # fmt: skip


def test_the_classifier_table_says_what_its_numbers_allow():
    found = answer(material([question(1)]), "classifier")
    assert sum(column(found, "capped hits").values()) == 138
    assert sum(column(found, "capped false").values()) == sum(column(found, "capped missed").values()) == 31
    assert [kind for kind, hits in column(found, "whole hits").items() if hits is not None] == ["implementation"]
    assert all(each.same for each in found.comparisons)


def test_what_cannot_be_answered_says_why():
    bare = material([question(1)], labels("kinds", {"so:1": "other"}))
    assert refusal(bare, "popularity") == "no labelled post has views or a score"
    assert refusal(bare, "difficulty") == "no labelled post has an accepted answer"
    assert refusal(bare, "root_cause_by_type") == "nothing is labelled by root-cause"
    assert refusal(bare, "popularity:phases") == "nothing is labelled by phases"
    assert "select" in refusal(bare, "funnel")
    assert refusal(material([question(1)]), "distribution") == "nothing is labelled (--labels FILE)"


@settings(max_examples=6, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 3), st.integers(0, 4)), min_size=4, max_size=25))
def test_correlations_over_posts_are_those_of_scipy_ties_included(seen: list[tuple[int, int, int]]):
    views, score, days = ([row[at] for row in seen] for at in range(3))
    posts = [
        question(n, views=view, score=points, accepted_ms=BORN + wait * DAY)
        for n, (view, points, wait) in enumerate(seen, 1)
    ]
    if any(len(set(each)) < 2 for each in (views, score, days)):
        return
    found = answer(material(posts), "popularity_difficulty_correlation")
    for name, first, second in (
        ("views ~ score", views, score),
        ("views ~ days", views, days),
        ("score ~ days", score, days),
    ):
        linear, ranked = stats.pearsonr(first, second), stats.spearmanr(first, second)
        assert column(found, "Pearson")[name] == pytest.approx(linear.statistic, abs=1e-9)
        assert column(found, "Pearson p")[name] == pytest.approx(linear.pvalue, abs=1e-6)
        assert column(found, "Spearman")[name] == pytest.approx(ranked.statistic, abs=1e-9)


@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=30))
def test_the_median_is_the_true_one_not_an_estimate(views: list[int]):
    posts = [question(n, views=seen) for n, seen in enumerate(views, 1)]
    found = answer(material(posts, labels("phases", {post["key"]: "a" for post in posts})), "popularity")
    assert found.rows[0][1] == statistics.median(views)
