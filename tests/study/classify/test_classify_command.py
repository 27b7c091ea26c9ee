"""The commands on a corpus on disk: evaluate, train, apply, shares; and one line for whatever is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_up_posts import dealt, made_up, write_corpus, write_labels

from sleuth.cli import main
from sleuth.study.classify.examples import gather
from sleuth.study.label.store import Label, read_labels


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """300 posts; the first 150 labelled by ann, and by bob, who differs on every tenth."""
    folder = tmp_path_factory.mktemp("study")
    texts, labels = made_up(dealt(crash=150, install=90, slow=60), astray=0.15)
    write_corpus(folder / "corpus", texts)
    write_labels(folder / "labels.jsonl", labels[:150])
    others = ["slow" if number % 10 == 0 else label for number, label in enumerate(labels[:150])]
    write_labels(folder / "labels.jsonl", others, rater="bob")
    (folder / "truth.json").write_text(json.dumps(labels))
    posts = [{"key": f"so:{number}", "stratum": "all", "weight": 2.0} for number in range(150)]
    strata = [{"name": "all", "population": 300, "sampled": 150}]
    sample = {"schema": 1, "corpus": str(folder / "corpus"), "seed": 0, "design": "random", "strata": strata}
    (folder / "sample.json").write_text(json.dumps({**sample, "posts": posts}))
    return folder


@pytest.fixture(scope="module")
def model(study: Path) -> Path:
    arguments = ["--labels", f"{study}/labels.jsonl", "--texts", f"{study}/corpus", "--rater", "ann"]
    assert (
        main(["study", "classify", *arguments, "--sample", f"{study}/sample.json", "--train-to", f"{study}/m.npz"]) == 0
    )
    return study / "m.npz"


def _json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["study", *arguments, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_an_evaluation_has_floor_ceiling_matrix_and_calibration(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _json(
        capsys, "classify", "--labels", f"{study}/labels.jsonl", "--texts", f"{study}/corpus", "--as-published"
    )
    (linear,) = found["models"]
    raters, published = found["raters"], found["as_published"]
    assert np.sum(linear["confusion"]) == found["posts"] == 150
    assert linear["majority"]["accuracy"] < linear["accuracy"]["low"]
    assert linear["accuracy"]["low"] <= linear["accuracy"]["value"] <= linear["accuracy"]["high"]
    assert raters["names"] == ["ann", "bob"]
    assert raters["agreement"] >= 0.9
    assert raters["kappa"]["low"] < raters["kappa"]["value"] < 1
    assert published["printed"]["right"] == 138
    assert published["capped"]["errors"] <= 6


def test_the_same_in_words_explains_the_published_metric(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--labels", f"{study}/labels.jsonl", "--texts", f"{study}/corpus", "--model", "keywords"]
    assert main(["study", "classify", *arguments, "--as-published"]) == 0
    told = capsys.readouterr().out
    assert "150 posts, 3 labels (kinds), 5 folds" in told
    assert "the floor" in told
    assert "the ceiling: ann and bob, kappa" in told
    assert "counts as one error" in told
    assert "48% accuracy" in told
    assert "columns: what it was taken for" in told
    assert "stated  right  posts" in told


def test_guesses_are_labels_of_a_rater_of_their_own(
    study: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = str(tmp_path / "guesses.jsonl")
    found = _json(capsys, "classify", "--apply", str(model), f"{study}/corpus", "--into", into)
    labels = list(read_labels(into))
    assert found["posts"] == len(labels) == 300, "every question, and not the answer"
    assert {label.rater for label in labels} == {"model:linear"}
    assert main(["study", "classify", "--apply", str(model), f"{study}/corpus", "--into", into]) == 2
    assert "exists" in capsys.readouterr().err


def test_shares_of_the_corpus_that_was_sampled_are_corrected_as_such(
    study: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _json(capsys, "shares", f"{study}/corpus", "--classifier", str(model), "--confidence", "0.999")
    assert found["way"] == "drawn"
    assert found["posts"] == 300
    truth = json.loads((study / "truth.json").read_text())
    for share in found["shares"]:
        assert share["low"] <= truth.count(share["label"]) / 300 <= share["high"]


def test_shares_of_another_corpus_are_corrected_for_the_shift(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, _ = made_up(dealt(crash=100, install=100, slow=600), seed=5, astray=0.15)
    write_corpus(tmp_path / "other", texts, prefix="gh")
    arguments = ["shares", str(tmp_path / "other"), "--classifier", str(model)]
    # One draw alone may well lie outside a 95 % interval.
    found = _json(capsys, *arguments, "--confidence", "0.999")
    (slow,) = (share for share in found["shares"] if share["label"] == "slow")
    assert found["way"] == "shifted"
    assert slow["counted"] < 0.75
    assert slow["low"] <= 0.75 <= slow["high"]
    assert slow["counted"] < slow["corrected"]
    assert main(["study", *arguments]) == 0
    assert "more or less common here" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["classify"], "give --labels and --texts"),
        (["classify", "--apply", "m.npz", "c"], "--apply needs --into"),
        (["classify", "--labels", "l", "--texts", "t", "--cv", "1"], "at least 2 folds"),
        (["classify", "--labels", "missing.jsonl", "--texts", "t"], "cannot read missing.jsonl"),
        (["shares", "c", "--classifier", "missing.npz"], "there is no missing.npz"),
        (["shares", "c", "--classifier", "m", "--confidence", "2"], "between 0 and 1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", *arguments]) == 2
    told = capsys.readouterr().err
    assert line in told
    assert told.count("\n") == 1


def test_raters_who_are_evenly_split_keep_their_post() -> None:
    said = {"a": ("x", "y"), "b": ("x", "x"), "c": ("y", "y")}
    labels = [
        Label(key, "k", label, rater)
        for key, two in said.items()
        for rater, label in zip(("ann", "bob"), two, strict=True)
    ]
    path = Path(__file__).with_name("unused")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sleuth.study.classify.examples.batches_of", lambda *_: [[(key, "text") for key in said]])
        found = gather(labels, path)
        settled = gather([*labels, Label("a", "k", "z", "final")], path)
    assert dict(zip(found.keys, found.labels, strict=True)) == {"a": "x", "b": "x", "c": "y"}
    assert found.ties == 1
    assert settled.labels[0] == "z"
