"""A rater's session: what it confirms is on disk, it goes on where it was left, and it knows nothing of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from label_samples import MANY, NESTED, post, write_sample

from sleuth.study.corpus import NotACorpus
from sleuth.study.label.posts import NotASample, posts_of
from sleuth.study.label.session import LONGEST_NOTE, Mark, Unfit, notes_path
from sleuth.study.label.store import Label, LabelFile, NotLabels, read_labels


@pytest.fixture
def labels(sample):
    return sample.with_name("labels.jsonl")


@pytest.fixture
def marks(sample):
    path = sample.with_name("marks.toml")
    path.write_text(MANY)
    return str(path)


def test_a_choice_is_on_disk_when_it_is_confirmed(begin, labels):
    begin().choose("so:3", ["performance"], "comprehension")
    (line,) = labels.read_text().splitlines()
    written = json.loads(line)
    assert written.pop("at_ms") > 0
    assert written == {
        "key": "so:3",
        "codebook": "kinds",
        "label": "performance",
        "second": "comprehension",
        "rater": "ann",
        "round": 1,
    }


def test_a_new_session_goes_on_with_what_the_old_one_confirmed(begin):
    first = begin()
    first.choose("so:3", ["performance"], "comprehension")
    first.annotate("so:5", "unsure")
    again = begin()
    assert again.tally().labelled == 1
    assert again.changes(0)["marks"]["so:3"]["labels"] == ("performance",)
    assert again.changes(0)["marks"]["so:5"]["note"] == "unsure"
    assert again.left() == [shown.key for shown in again.posts if shown.key != "so:3"]


def test_a_choice_that_is_sent_twice_is_written_once(begin, labels):
    begin().choose("so:3", ["performance"])
    begin().choose("so:3", ["performance"])
    assert len(labels.read_text().splitlines()) == 1


def test_a_choice_can_be_changed_and_taken_back(begin, labels):
    session = begin()
    session.choose("so:3", ["performance"], "other")
    session.choose("so:3", ["other"])
    assert [(label.label, label.second) for label in read_labels(labels)] == [("other", None)]
    session.choose("so:3", [])
    assert list(read_labels(labels)) == []
    assert session.tally().labelled == 0


@pytest.mark.parametrize(
    ("key", "chosen", "second", "why"),
    [
        ("so:99", ["other"], None, "not in the sample"),
        ("so:1", ["nonsense"], None, "no label of the codebook kinds"),
        ("so:1", ["other"], "nonsense", "no label of the codebook kinds"),
        ("so:1", ["other", "performance"], None, "one label a post, not 2"),
        ("so:1", ["other"], "other", "second choice"),
        ("so:1", [], "other", "second choice"),
    ],
)
def test_what_cannot_be_is_refused_and_not_written(begin, labels, key, chosen, second, why):
    with pytest.raises(Unfit, match=why):
        begin().choose(key, chosen, second)
    assert labels.read_text() == ""


def test_several_labels_of_one_post_are_one_line_in_the_codebooks_order(begin, labels, marks):
    session = begin(codebook=marks)
    session.choose("so:1", ["log", "code"])
    assert [label.label for label in read_labels(labels)] == ["code+log"]
    assert begin(codebook=marks).changes(0)["marks"]["so:1"]["labels"] == ("code", "log")


def test_a_label_that_has_parts_cannot_be_chosen_itself(begin, sample):
    nested = sample.with_name("nested.toml")
    nested.write_text(NESTED)
    session = begin(codebook=str(nested))
    with pytest.raises(Unfit):
        session.choose("so:1", ["data"])
    assert session.choose("so:1", ["data/text"]).labels == ("data/text",)


def test_raters_rounds_and_codebooks_know_nothing_of_each_other(begin, marks):
    begin("ann").choose("so:1", ["other"])
    begin("ann").annotate("so:1", "mine")
    for stranger in (begin("bob"), begin("ann", round=2), begin("ann", codebook=marks)):
        assert stranger.tally().labelled == 0
        assert stranger.changes(0)["marks"]["so:1"] == {"labels": (), "second": None, "note": "", "at_ms": 0}


def test_each_rater_has_an_order_that_stays_even_when_the_sample_grows(begin, sample, tmp_path):
    order = [shown.key for shown in begin("ann").posts]
    assert order == [shown.key for shown in begin("ann").posts]
    assert sorted(order) == [f"so:{number}" for number in range(1, 9)]
    assert order != [shown.key for shown in begin("bob").posts]
    (tmp_path / "larger").mkdir()
    larger = posts_of(write_sample(tmp_path / "larger", [post(number) for number in range(20, 0, -1)]))
    grown = [shown.key for shown in type(begin())(larger, begin().codebook, "ann", 1, tmp_path / "other.jsonl").posts]
    assert [key for key in grown if key in order] == order


def test_the_same_rater_in_two_places_sees_both_and_loses_neither(begin, labels):
    here, there = begin(), begin()
    seen = there.revision
    here.choose("so:1", ["other"])
    there.choose("so:2", ["performance"])
    assert set(there.changes(seen)["marks"]) == {"so:1", "so:2"}
    assert here.tally().labelled == 1
    here.changes(0)
    assert here.tally().labelled == 2
    assert len(read_labels(labels)) == 2


def test_only_what_is_new_is_told(begin):
    session = begin()
    session.choose("so:1", ["other"])
    seen = session.changes(0)["revision"]
    assert session.changes(seen)["marks"] == {}
    session.choose("so:2", ["other"])
    assert set(session.changes(seen)["marks"]) == {"so:2"}


def test_a_restarted_session_tells_everything_to_a_page_that_knew_the_old_one(begin):
    old = begin()
    old.choose("so:1", ["other"])
    assert set(begin().changes(old.revision - 1)["marks"]) >= {"so:1"}


def test_a_file_put_in_the_place_of_the_old_one_gets_the_next_label(begin, labels):
    session = begin()
    session.choose("so:1", ["other"])
    kept = labels.read_bytes()
    labels.unlink()
    labels.write_bytes(kept)
    session.choose("so:2", ["other"])
    assert {label.key for label in read_labels(labels)} == {"so:1", "so:2"}


def test_a_line_torn_by_a_kill_costs_nothing_else(begin, labels):
    begin().choose("so:1", ["other"])
    with open(labels, "ab") as file:
        file.write(b'{"key": "so:2", "codeb')
    session = begin()
    assert session.tally().labelled == 1
    session.choose("so:3", ["other"])
    assert {label.key for label in read_labels(labels)} == {"so:1", "so:3"}


def test_into_a_file_that_somebody_has_spoilt_nothing_more_is_written(begin, labels):
    session = begin()
    labels.write_text("once upon a time\n")
    for _ in range(2):
        with pytest.raises(NotLabels):
            session.choose("so:1", ["other"])
    assert labels.read_text() == "once upon a time\n"
    assert session.changes(0)["session"] == session.id


def test_a_label_that_the_codebook_no_longer_has_must_be_given_anew(begin, labels):
    with LabelFile(labels) as file:
        file.append(Label("so:1", "kinds", "abolished", "ann"))
    assert begin().tally().labelled == 0


def test_a_note_is_kept_beside_the_labels_and_can_be_dropped(begin, labels):
    session = begin()
    session.annotate("so:1", "  two questions in one \n")
    assert [(note.key, note.label) for note in read_labels(notes_path(labels))] == [("so:1", "two questions in one")]
    assert labels.read_text() == ""
    assert session.tally().doubtful == 1
    session.annotate("so:1", " ")
    assert list(read_labels(notes_path(labels))) == []
    assert session.tally().doubtful == 0


def test_a_note_as_long_as_a_book_is_refused(begin):
    with pytest.raises(Unfit, match="at most"):
        begin().annotate("so:1", "x" * (LONGEST_NOTE + 1))


def test_the_pace_is_that_of_the_usual_post_and_forgets_breaks(begin, labels):
    at = [0, 10, 20, 32, 32 + 3600, 32 + 3610]
    with LabelFile(labels) as file:
        for number, seconds in enumerate(at, 1):
            file.append(Label(f"so:{number}", "kinds", "other", "ann", at_ms=1_700_000_000_000 + seconds * 1000))
    tally = begin().tally()
    assert (tally.labelled, tally.left) == (6, 2)
    assert tally.seconds_each == 10
    assert tally.seconds_left == 20


def test_without_two_labels_nobody_knows_the_pace(begin):
    session = begin()
    session.choose("so:1", ["other"])
    assert session.tally().seconds_left is None


def test_a_mark_is_doubtful_with_a_second_choice_or_a_note():
    assert Mark(("other",), second="performance").doubtful
    assert Mark(note="hm").doubtful
    assert not Mark(("other",)).doubtful


def test_a_table_of_somebody_elses_labels_is_never_added_to(begin, labels):
    labels.write_text("source,key,scheme,label,rater\n")
    with pytest.raises(NotLabels, match="something other than labels"):
        begin()
    assert labels.read_text() == "source,key,scheme,label,rater\n"


def test_a_post_shows_its_words_and_nothing_that_sways(sample):
    shown = posts_of(sample)[0]
    assert (shown.key, shown.title, shown.text) == ("so:1", "Question 1", "The words of 1.")
    assert (shown.code, shown.tags) == (("x = 1",), ("keras",))
    assert set(vars(shown)) == {"key", "title", "text", "code", "tags"}


def test_nulls_and_empty_blocks_of_a_post_are_nothing(tmp_path):
    sample = write_sample(tmp_path, [post(1, title=None, text=None, code=["", " \n", "y"], tags=None)])
    (shown,) = posts_of(sample)
    assert (shown.title, shown.text, shown.code, shown.tags) == ("", "", ("y",), ())


def test_a_post_that_was_drawn_twice_is_read_once(tmp_path):
    sample = write_sample(tmp_path, [post(1), post(1)])
    assert [shown.key for shown in posts_of(sample)] == ["so:1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "is not a sample"),
        ("[]", "is not a sample"),
        ('{"posts": []}', "holds no posts"),
        ('{"posts": [{"weight": 1}]}', "has no key"),
        ('{"posts": [{"key": "so:1"}]}', "which corpus"),
        ('{"corpus": "corpus", "posts": [{"key": "so:77"}]}', "1 post is in .* but not in the corpus, so:77"),
    ],
)
def test_what_is_no_sample_is_refused_in_one_line(sample, text, why):
    sample.write_text(text)
    with pytest.raises(NotASample, match=why) as refused:
        posts_of(sample)
    assert "\n" not in str(refused.value)


def test_a_missing_sample_and_a_missing_corpus_are_said(sample, tmp_path):
    with pytest.raises(NotASample, match="there is no"):
        posts_of(tmp_path / "none.json")
    with pytest.raises(NotASample, match="is a folder"):
        posts_of(tmp_path)
    with pytest.raises(NotACorpus):
        posts_of(sample, tmp_path / "none")


def test_the_corpus_may_be_named_from_elsewhere(sample, tmp_path):
    moved = Path(tmp_path / "moved")
    sample.with_name("corpus").rename(moved)
    assert len(posts_of(sample, moved)) == 8
