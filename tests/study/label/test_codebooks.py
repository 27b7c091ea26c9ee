"""Codebooks are complete, can be keyed, and a broken one says in one line what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sleuth.cli import main
from sleuth.findings import Kind, Stage
from sleuth.study.label.codebook import BadCodebook, codebook_names, load_codebook, parse_codebook

MINE = """
name = "mine"
title = "Mine"
question = "Which?"
[[label]]
name = "a"
key = "a"
definition = "The first."
[[label]]
name = "b"
key = "b"
definition = "The second."
"""


@pytest.mark.parametrize("name", codebook_names())
def test_every_codebook_loads_under_its_own_name_and_explains_its_labels(name: str) -> None:
    codebook = load_codebook(name)
    assert codebook.name == name
    assert codebook.source
    assert codebook.rules
    assert all(len(label.definition) > 10 for label in codebook.labels)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("kinds", 7 + 1),
        ("bug-types", 3 + 5 + 4),
        ("root-causes", 10),
        ("effects", 6),
        ("stages", 6),
        ("phases", 7),
        ("taxonomy", 63),
        ("verbs", 5),
        ("numerical-causes", 9),
    ],
)
def test_a_studys_scheme_has_all_its_labels(name: str, labels: int) -> None:
    assert len(load_codebook(name).choosable) == labels


def test_the_taxonomy_has_its_objects_in_seven_phases() -> None:
    taxonomy = load_codebook("taxonomy")
    sizes = {phase.name: len(taxonomy.under(phase.name)) for phase in taxonomy.under(None)}
    assert sizes == {
        "data-processing": 10,
        "model-setting": 11,
        "model-training": 18,
        "model-prediction": 5,
        "model-evaluation": 6,
        "runtime-environment": 6,
        "visualization": 7,
    }
    assert taxonomy.top("model-training/learning-rate") == "model-training"
    assert taxonomy.top("model-training") == "model-training"


def test_the_schemes_use_the_words_of_the_findings() -> None:
    from typing import get_args

    assert {label.name for label in load_codebook("kinds").labels} == {*get_args(Kind), "other"}
    assert {label.name for label in load_codebook("phases").labels} == set(get_args(Stage))


def test_every_numerical_fix_is_within_its_cause() -> None:
    causes = {label.name for label in load_codebook("numerical-causes").labels}
    assert {label.name for label in load_codebook("numerical-fixes").under(None)} == causes


def test_a_codebook_of_ones_own_is_found_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    assert [label.name for label in load_codebook(tmp_path / "mine.toml").labels] == ["a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('name = "b"', 'name = "a"', "two labels are called 'a'"),
        ('key = "b"', 'key = "a"', "'a' and 'b' have the same key 'a'"),
        ('key = "b"', 'key = "bb"', "the key of 'b' must be one character, not 'bb'"),
        ('key = "b"', 'key = " "', "label 2 \\(b\\): key must be a text"),
        ('key = "b"', 'key = "b"\nwithin = "c"', "'b' is within 'c', which is no label"),
        ('key = "b"', 'key = "b"\nwithin = "b"', "'b' is within itself"),
        ('definition = "The second."', "", r"label 2 \(b\): definition is missing"),
        ('definition = "The second."', "definition = 2", r"label 2 \(b\): definition must be a text"),
        ('key = "b"', 'key = "b"\ncolour = "red"', "there is no field 'colour'"),
        ('title = "Mine"', "", "title is missing"),
        ('title = "Mine"', 'title = "Mine"\nchoose = "two"', "choose must be"),
        ('title = "Mine"', 'title = "Mine"\nrules = "none"', "rules must be a list of texts"),
        ('name = "mine"', "name = mine", "is not valid TOML"),
    ],
)
def test_a_broken_codebook_says_in_one_line_what_is_wrong(old: str, new: str, complaint: str) -> None:
    assert old in MINE
    with pytest.raises(BadCodebook, match=complaint) as refused:
        parse_codebook(MINE.replace(old, new), "mine.toml")
    assert str(refused.value).startswith("mine.toml")
    assert "\n" not in str(refused.value)


def test_labels_in_different_parents_may_share_a_key() -> None:
    within = '[[label]]\nname = "{0}/x"\nkey = "x"\ndefinition = "Inner."\nwithin = "{0}"\n'
    codebook = parse_codebook(MINE + within.format("a") + within.format("b"))
    assert [label.name for label in codebook.choosable] == ["a/x", "b/x"]


def test_a_codebook_without_labels_or_of_an_unknown_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCodebook, match=r"has no \[\[label\]\]"):
        parse_codebook('name = "mine"')
    with pytest.raises(BadCodebook, match=r"there is no codebook 'kind'; there are .*kinds"):
        load_codebook("kind")
    with pytest.raises(BadCodebook, match="No such file"):
        load_codebook(tmp_path / "nowhere.toml")


def test_the_command_lists_codebooks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "codebook"]) == 0
    listed = capsys.readouterr().out
    assert all(line.split()[0] in codebook_names() for line in listed.splitlines())
    assert len(listed.splitlines()) == len(codebook_names())


def test_the_command_shows_a_codebook_with_keys_definitions_and_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "codebook", "taxonomy"]) == 0
    told = capsys.readouterr().out
    assert "d  Data processing  (data-processing)" in told
    assert "     t  Tensor" in told
    assert "1. Choose the phase first" in told


def test_the_command_gives_a_codebook_to_other_programs_and_to_edit(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["study", "codebook", "effects", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {label["name"] for label in data["labels"]} == {label.name for label in load_codebook("effects").labels}
    assert main(["study", "codebook", "effects", "--format", "toml"]) == 0
    (tmp_path / "mine.toml").write_text(capsys.readouterr().out)
    assert load_codebook(tmp_path / "mine.toml") == load_codebook("effects")


def test_the_command_refuses_a_broken_codebook_in_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE.replace('key = "b"', 'key = "a"'))
    assert main(["study", "codebook", str(tmp_path / "mine.toml")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
