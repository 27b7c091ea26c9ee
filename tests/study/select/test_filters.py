"""What each filter keeps and what it leaves, by examples."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pyarrow as pa
import pytest
from shared_expressions import families
from synthetic import posts as synthetic_posts

from sleuth.study import engine
from sleuth.study.corpus import COLUMNS
from sleuth.study.select import filters
from sleuth.study.select.values import BadFilter

_DUCKDB = engine.connect()


def kept(wanted: dict[str, Any], *posts: dict[str, Any]) -> list[bool]:
    rows = [{"kind_of_post": "question", **post} for post in posts]
    table = engine.small_table(_DUCKDB, pa.Table.from_pylist(rows, schema=COLUMNS))
    return table.select(kept=filters.keep(table, wanted)).to_pyarrow()["kept"].to_pylist()


def titles_kept(wanted: dict[str, Any], titles: list[str], **post: Any) -> list[str]:
    answers = kept(wanted, *({"title": title, **post} for title in titles))
    return [title for title, yes in zip(titles, answers, strict=True) if yes]


HOW_TO = [
    "How to save a model",
    "PyTorch: how to freeze layers?",
    "Tensorflow, How To stack two tensors",
    "how\u00a0to plot",
    "I do not know how to begin",
    "How-to: custom loss",
]
ASKED_OTHERWISE = ["How do I save a model", "how can we stop early?", "How should one shuffle", "Keras: how I can mask"]
NOT_HOW_TO = [
    "How does backward() work",
    "How do weights change in training",
    "Somehow total loss is wrong",
    "Show to users",
    "How large is a batch",
    "what is the way to go",
    "",
]


def test_a_title_that_asks_how_to_is_a_how_to() -> None:
    assert titles_kept({"how_to": True}, HOW_TO + ASKED_OTHERWISE + NOT_HOW_TO) == HOW_TO + ASKED_OTHERWISE
    assert titles_kept({"how_to": "phrase"}, HOW_TO + ASKED_OTHERWISE + NOT_HOW_TO) == HOW_TO
    assert titles_kept({"how_to": False}, HOW_TO + ASKED_OTHERWISE + NOT_HOW_TO) == NOT_HOW_TO
    assert kept({"how_to": True}, {"title": None}) == [False]
    assert kept({"how_to": False}, {"title": None}) == [True]


NUMERICAL = [
    "Loss is NaN",
    "nan loss",
    "loss=nan",
    "-inf in gradients",
    "NaNs everywhere",
    "np.inf?",
    "出现nan怎么办",
    "(Inf)",
]
NOT_NUMERICAL = [
    "info",
    "banana",
    "finance",
    "nano",
    "infer a shape",
    "infinite loop",
    "is_nan_free",
    "nan2",
    "inference",
]


def test_nan_and_inf_count_as_words_only() -> None:
    assert titles_kept({"nan_or_inf": True}, NUMERICAL + NOT_NUMERICAL) == NUMERICAL
    assert titles_kept({"nan_or_inf": False}, NUMERICAL + NOT_NUMERICAL) == NOT_NUMERICAL


def test_nan_is_looked_for_in_title_and_text_and_in_code_when_asked() -> None:
    places = [{"title": "nan"}, {"text": "it\nis nan"}, {"code": ["x = 1", "y = float('nan')"]}, {"code": [None]}]
    assert kept({"nan_or_inf": True}, *places) == [True, True, False, False]
    assert kept({"nan_or_inf": ["code"]}, *places) == [False, False, True, False]
    assert kept({"nan_or_inf": ["title", "text", "code"]}, *places) == [True, True, True, False]


FIXES = [
    "Fix crash when the batch is empty",
    "fix(loss): wrong axis",
    "Fixed a bug in the optimizer",
    "Fixed gradient clipping",
    "fixes #12",
    "Bugfix: shapes",
    "Hotfix for saving",
    "Work around defect in cuDNN",
    "Fix bug in fixed-size window",
    "Resolve #31",
    "[fix] dtype",
]
NO_FIXES = [
    "Merge pull request #7 from ann/fix-loss",
    "Merge branch 'bugfix' into main",
    'Revert "Fix crash"',
    "Fix typo in README",
    "docs: fix the example",
    "Fix docstring of conv2d",
    "fix comments",
    "Fix lint",
    "Add prefix to variables",
    "Add test fixture",
    "Use a fixed window",
    "Add fixed-size buffers",
    "Fix random seed",
    "Debug output",
    "Implement attention",
    "",
]


def test_a_commit_that_says_it_mends_something_is_a_fix() -> None:
    assert titles_kept({"fix_commit": True}, FIXES + NO_FIXES, kind_of_post="commit") == FIXES
    assert titles_kept({"fix_commit": False}, FIXES + NO_FIXES, kind_of_post="commit") == NO_FIXES


def test_only_a_commit_is_a_fix_and_its_text_may_say_so() -> None:
    says = {"title": "Clip the gradients", "text": "They exploded.\n\nFixes a/b#12"}
    assert kept({"fix_commit": True}, {**says, "kind_of_post": "commit"}, says) == [True, False]
    assert kept({"fix_commit": False}, {**says, "kind_of_post": "commit"}, says) == [False, False]
    assert kept({"fix_commit": True}, {"title": None, "text": None, "kind_of_post": "commit"}) == [False]


def test_tags_match_whole_in_either_case_and_by_their_beginnings() -> None:
    tags = [["tensorflow"], ["python", "TensorFlow2.0"], ["not-tensorflow"], ["c++"], ["c"], [], None]
    posts = [{"tags": each} for each in tags]
    assert kept({"tags": {"any": ["tensorflow"]}}, *posts) == [True, False, False, False, False, False, False]
    assert kept({"tags": {"any": ["tensorflow*", "c"]}}, *posts) == [True, True, False, False, True, False, False]
    assert kept({"tags": {"any": ["*tensorflow*"]}}, *posts) == [True, True, True, False, False, False, False]
    assert kept({"tags": {"none": ["*tensorflow*", "c++"]}}, *posts) == [False, False, False, False, True, True, True]
    assert kept({"tags": {"all": ["tensorflow*", "python"]}}, *posts) == [
        False,
        True,
        False,
        False,
        False,
        False,
        False,
    ]


def test_a_day_is_whole_and_utc() -> None:
    def at(*moment: int) -> dict[str, Any]:
        return {"created_ms": int(datetime(*moment, tzinfo=timezone.utc).timestamp() * 1000)}  # type: ignore[misc]

    posts = [at(2018, 12, 30, 23, 59, 59), at(2018, 12, 31), at(2018, 12, 31, 23, 59, 59), at(2019, 1, 1), {}]
    assert kept({"created": {"since": "2018-12-31"}}, *posts) == [False, True, True, True, False]
    assert kept({"created": {"until": "2018-12-31"}}, *posts) == [True, True, True, False, False]
    both = {"created": {"since": "2018-12-31", "until": "2018-12-31"}}
    assert kept(both, *posts) == [False, True, True, False, False]
    noon = {"created": {"since": datetime(2018, 12, 31, 12, tzinfo=timezone.utc)}}
    assert kept(noon, *posts) == [False, False, True, True, False]


def test_numbers_are_bounded_on_both_sides_and_an_unknown_one_is_never_kept() -> None:
    posts = [{"score": 4}, {"score": 5}, {"score": -1}, {}]
    assert kept({"score": {"min": 5}}, *posts) == [False, True, False, False]
    assert kept({"score": {"min": 0, "max": 4}}, *posts) == [True, False, False, False]
    assert kept({"not": {"score": {"min": 5}}}, *posts) == [True, False, True, True]


def test_accepted_answered_and_closed_have_a_contrary() -> None:
    posts: list[dict[str, Any]] = [
        {"accepted_answer": 7},
        {"accepted_ms": 1},
        {"answers": 2},
        {"answers": 0, "closed_ms": 5},
        {"kind_of_post": "commit"},
    ]
    assert kept({"accepted": True}, *posts) == [True, True, False, False, False]
    assert kept({"accepted": False}, *posts) == [False, False, True, True, False]
    assert kept({"answered": True}, *posts) == [True, True, True, False, False]
    assert kept({"answered": False}, *posts) == [False, False, False, True, False]
    assert kept({"closed": True}, *posts) == [False, False, False, True, False]
    assert kept({"closed": False}, *posts) == [True, True, True, False, True]


def test_kind_and_site_take_one_name_or_several() -> None:
    posts = [{"kind_of_post": "issue", "site": "github"}, {"site": "ai.stackexchange"}, {"site": None}]
    assert kept({"kind": "issue"}, *posts) == [True, False, False]
    assert kept({"kind": ["issue", "question"], "site": "*.stackexchange"}, *posts) == [False, True, False]


def test_words_are_found_as_phrases_in_the_places_named() -> None:
    posts = [
        {"title": "CUDA out of\nmemory"},
        {"text": "out of memory"},
        {"code": ["out of memory"]},
        {"title": "outof memory"},
    ]
    assert kept({"words": {"any": ["Out of Memory"]}}, *posts) == [True, True, False, False]
    assert kept({"words": {"any": ["out of memory"], "in": ["code"]}}, *posts) == [False, False, True, False]
    assert kept({"words": {"all": ["cuda", "memory"]}}, *posts) == [True, False, False, False]
    assert kept({"words": {"none": ["memory"]}}, *posts) == [False, False, True, False]


def test_one_of_several_sets_of_filters_is_enough() -> None:
    either = {"any": [{"score": {"min": 5}}, {"views": {"min": 100}, "closed": True}]}
    posts = [{"score": 5}, {"views": 100}, {"views": 100, "closed_ms": 1}]
    assert kept(either, *posts) == [True, False, True]


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        ({"scores": {"min": 1}}, "there is no filter 'scores'; there are accepted, active"),
        ({"score": 5}, "score takes { min = …, max = … }, not 5"),
        ({"score": {"min": "5"}}, "score.min takes a whole number, not '5'"),
        ({"score": {"least": 5}}, "score takes { min = …, max = … }"),
        ({"tags": ["pytorch"]}, "tags takes { any = …, all = …, none = … }"),
        ({"tags": {"any": []}}, "tags.any takes a text or a list of texts"),
        ({"created": {"since": "soon"}}, "created.since takes a day such as 2018-12-31, not 'soon'"),
        ({"created": {"since": 2018}}, "created.since takes a day such as 2018-12-31, not 2018"),
        ({"accepted": "yes"}, "accepted is true or false, not 'yes'"),
        ({"how_to": "literal"}, "how_to is true, false or \"phrase\", not 'literal'"),
        ({"nan_or_inf": ["body"]}, "nan_or_inf takes some of title, text, code"),
        ({"words": {"in": ["title"]}}, "words needs any, all or none beside in"),
        ({"any": {"score": {"min": 1}}}, "any takes a list of tables of filters"),
        ({"not": []}, "not takes a table of filters"),
        ({"fix_commit": 1}, "fix_commit is true or false, not 1"),
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_in_one_line(wanted: dict[str, Any], line: str) -> None:
    with pytest.raises(BadFilter) as refused:
        kept(wanted, {})
    assert line in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_example_parts_the_posts_and_answers_for_each() -> None:
    table = engine.small_table(_DUCKDB, synthetic_posts(2_000))
    for family in families():
        assert set().union(*family.EXAMPLES) == set(family.KEYS), family
        for example in family.EXAMPLES:
            answers = table.select(kept=filters.keep(table, example)).to_pyarrow()["kept"].to_pylist()
            assert None not in answers, example
            assert True in answers, example
