"""Agreement is measured round by round, rater by rater and label by label, and disagreements are listed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleuth.cli import main
from sleuth.study import corpus as corpora
from sleuth.study.label.agreement import measure, rounds
from sleuth.study.label.coefficients import Bootstrap
from sleuth.study.label.disagreements import disagreements
from sleuth.study.label.store import Label, LabelFile

QUICK = Bootstrap(resamples=50)


def _said(rater: str, labels: str, round: int = 1, codebook: str = "effects") -> list[Label]:
    """One letter a post, a dot for a post that the rater did not see."""
    names = {"c": "crash", "h": "hang", "b": "bad-performance"}
    return [
        Label(f"so:{number}", codebook, names[letter], rater, round)
        for number, letter in enumerate(labels)
        if letter != "."
    ]


TWO = _said("ann", "cchhbb") + _said("bob", "cchhhc")


def test_each_round_and_codebook_is_measured_by_itself() -> None:
    labels = (
        TWO
        + _said("ann", "cc", 2)
        + _said("bob", "cc", 2)
        + _said("ann", "ch", 1, "other")
        + _said("bob", "ch", 1, "other")
    )
    found = [
        (one.codebook, one.round, one.posts, one.agree) for one in (measure(each, QUICK) for each in rounds(labels))
    ]
    assert found == [("effects", 1, 6, pytest.approx(4 / 6)), ("effects", 2, 2, 1.0), ("other", 1, 2, 1.0)]


def test_two_raters_get_cohens_kappa_and_who_said_what() -> None:
    one = measure(rounds(TWO)[0], QUICK)
    # 4 of 6 agree; by chance (2·3 + 2·3 + 2·0) / 36 = 1/3 would.
    assert one.cohen is not None
    assert one.cohen.value == pytest.approx((4 / 6 - 1 / 3) / (1 - 1 / 3))
    assert one.pairs[0].raters == ("ann", "bob")
    assert one.pairs[0].confusion == {
        ("crash", "crash"): 2,
        ("hang", "hang"): 2,
        ("bad-performance", "hang"): 1,
        ("bad-performance", "crash"): 1,
    }


def test_three_raters_get_each_pair_and_no_overall_cohen() -> None:
    one = measure(rounds(TWO + _said("cem", "ch...."))[0], QUICK)
    assert one.cohen is None
    assert {pair.raters: pair.kappa.units for pair in one.pairs} == {
        ("ann", "bob"): 6,
        ("ann", "cem"): 2,
        ("bob", "cem"): 2,
    }


def test_fleiss_kappa_is_of_the_usual_number_of_raters() -> None:
    one = measure(rounds(TWO + _said("cem", "ch...."))[0], QUICK)
    assert (one.fleiss_raters, one.fleiss.units, one.alpha.units) == (2, 4, 6)


def test_posts_that_one_rater_saw_count_for_nothing() -> None:
    assert measure(rounds([*TWO, Label("so:99", "effects", "hang", "ann")])[0], QUICK) == measure(rounds(TWO)[0], QUICK)


def test_settled_labels_are_no_rater_unless_named() -> None:
    settled = _said("final", "cchhbb")
    assert rounds(TWO + settled)[0].raters == ("ann", "bob")
    assert rounds(TWO + settled, raters=["ann", "final"])[0].raters == ("ann", "final")


def test_label_by_label_agreement_counts_where_either_gave_it() -> None:
    by_label = {of.label: of for of in measure(rounds(TWO)[0], QUICK).labels}
    assert by_label["crash"].given == 5
    assert by_label["crash"].agree == pytest.approx(2 * 2 / 5)
    assert by_label["bad-performance"].agree == 0.0


def test_second_choices_count_when_asked_about() -> None:
    assert measure(rounds(TWO)[0], QUICK).agree_with_seconds is None
    labels = [
        Label("so:0", "effects", "crash", "ann", second="hang"),
        Label("so:0", "effects", "hang", "bob"),
        Label("so:1", "effects", "crash", "ann"),
        Label("so:1", "effects", "hang", "bob"),
    ]
    one = measure(rounds(labels)[0], QUICK)
    assert (one.agree, one.agree_with_seconds) == (0.0, 0.5)


def test_disagreements_come_with_what_each_said_the_usual_confusion_first() -> None:
    labels = _said("ann", "chbbb") + _said("bob", "cchhh")
    found = disagreements(rounds(labels)[0], {"so:3": "Training hangs"})
    assert [(post.key, post.between, post.title) for post in found] == [
        ("so:2", ("bad-performance", "hang"), ""),
        ("so:3", ("bad-performance", "hang"), "Training hangs"),
        ("so:4", ("bad-performance", "hang"), ""),
        ("so:1", ("crash", "hang"), ""),
    ]
    assert [(label.rater, label.label) for label in found[0].said] == [("ann", "bad-performance"), ("bob", "hang")]


def _file(path: Path, labels: list[Label]) -> str:
    with LabelFile(path) as file:
        for label in labels:
            file.append(label)
    return str(path)


def test_the_command_tells_coefficients_labels_and_the_matrix(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "agreement", _file(tmp_path / "labels.jsonl", TWO), "--resamples", "50"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("effects, round 1: 6 posts, 2 raters (ann, bob)\n")
    assert "Cohen's kappa              0.500" in told
    assert "66.7 % of pairs agree" in told
    assert "ann \\ bob" in told


def test_the_command_gives_json_with_disagreements_and_titles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "corpus"
    (folder / corpora.POSTS).mkdir(parents=True)
    rows = pa.Table.from_pylist([{"key": "so:4", "title": "Slow GPU"}], corpora.COLUMNS)
    pq.write_table(rows, folder / corpora.POSTS / "part-00000.parquet")
    corpora.write_manifest(folder, {})
    labels = _file(tmp_path / "labels.jsonl", TWO)
    command = ["study", "agreement", labels, "--disagreements", "--corpus", str(folder), "--format", "json"]
    assert main(command) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rounds"][0]["cohen"]["value"] == pytest.approx(0.5)
    assert {"first": "crash", "second": "crash", "posts": 2} in told["rounds"][0]["pairs"][0]["confusion"]
    assert {post["key"]: post["title"] for post in told["disagreements"]} == {"so:4": "Slow GPU", "so:5": ""}
    assert main([*command[:-2]]) == 0
    assert "so:4  Slow GPU\n      ann: bad-performance, bob: hang\n" in capsys.readouterr().out


def test_the_command_can_merge_labels_and_take_the_outermost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = _file(tmp_path / "labels.jsonl", TWO)
    merged = ["--merge", "stops=crash,hang", "--rest", "goes on", "--format", "json"]
    assert main(["study", "agreement", labels, *merged]) == 0
    assert [of["label"] for of in json.loads(capsys.readouterr().out)["rounds"][0]["labels"]] == ["goes on", "stops"]
    deep = [
        Label(f"so:{number}", "taxonomy", f"{phase}/{thing}", rater)
        for number, phase in enumerate(("visualization", "model-setting"))
        for rater, thing in (("ann", "model"), ("bob", "layer"))
    ]
    path = _file(tmp_path / "deep.jsonl", deep)
    assert main(["study", "agreement", path, "--codebook", "taxonomy", "--outermost", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rounds"][0]["agree"] == 1.0


def test_the_command_tells_of_labels_that_the_codebook_does_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _file(tmp_path / "labels.jsonl", [*TWO, Label("so:0", "effects", "crahs", "eve")])
    assert main(["study", "agreement", path, "--resamples", "0"]) == 0
    assert capsys.readouterr().err == "sleuth: the codebook effects has no label 'crahs'\n"


def test_one_post_is_not_told_as_several(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = TWO[0].key
    path = _file(tmp_path / "labels.jsonl", [label for label in TWO if label.key == key])
    assert main(["study", "agreement", path, "--resamples", "0"]) == 0
    assert "round 1: 1 post, 2 raters" in capsys.readouterr().out


def test_the_command_says_when_a_line_was_cut_off(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _file(tmp_path / "labels.jsonl", TWO)
    with open(path, "a") as file:
        file.write('{"key": "so:')
    assert main(["study", "agreement", path]) == 0
    assert "1 line of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--codebook", "kinds"], "has no labels of kinds; it has effects"),
        (["--raters", "ann,eve"], "there is no rater 'eve'"),
        (["--raters", "ann"], "no post in"),
        (["--round", "2"], "no post in"),
        (["--outermost"], "--outermost needs the --codebook"),
        (["--rest", "x"], "--rest is for what --merge leaves"),
        (["--merge", "x"], "say NAME=LABEL,LABEL"),
        (["--confidence", "95"], "lies between 0 and 1"),
        (["--disagreements", "--corpus", "nowhere"], "nowhere is not a corpus"),
    ],
)
def test_the_command_refuses_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], complaint: str
) -> None:
    assert main(["study", "agreement", _file(tmp_path / "labels.jsonl", TWO), "--resamples", "0", *options]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1
