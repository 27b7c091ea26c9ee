"""Presets are data: those of the four studies load with their printed counts, and a faulty one is refused in a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sleuth.study import select
from sleuth.study.select.preset import step_of


def test_the_four_studies_have_their_presets() -> None:
    assert select.names() == ["bugs", "challenges", "implementation", "numerical"]


@pytest.mark.parametrize("name", select.names())
def test_a_preset_says_what_it_is_and_whose(name: str) -> None:
    preset = select.load(name)
    assert preset.name == name
    assert preset.title
    assert "et al." in preset.source
    assert preset.steps[-1].by_hand, "every study ended with people reading"


def test_the_funnel_of_study_l_is_the_printed_one() -> None:
    published = [step.published for step in select.load("implementation").steps]
    assert published == [90_697, 14_203, 4_327, 3_842, 2_401]


@pytest.mark.parametrize("name", select.names())
def test_what_is_shown_can_be_saved_edited_and_used_by_its_path(name: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(select.load(name).text.replace(f'name = "{name}"', ""), encoding="utf-8")
    loaded = select.load(mine)
    assert loaded.name == "mine"
    assert loaded.steps == select.load(name).steps
    assert select.load(str(mine)) == loaded


def test_a_step_without_a_title_is_named_by_its_filters() -> None:
    assert step_of({"tags": {"any": ["tensorflow*", "pytorch"]}}).title == "tags any tensorflow* or pytorch"
    assert step_of({"accepted": True, "score": {"min": 5}}).title == "accepted, score min 5"
    assert step_of({"closed": False}).title == "closed no"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = [", "mine.toml is not TOML"),
        ("title = 'x'", "mine.toml has no [[step]]"),
        ("step = 5", "mine.toml has no [[step]]"),
        ("tags = {any = ['x']}\n[[step]]\nkind = 'issue'", "mine.toml: tags must stand within a [[step]]"),
        ("[[step]]\npublished = 5", "mine.toml, step 1 needs filters, or by_hand = true where people chose; not both"),
        ("[[step]]\nby_hand = true\nkind = 'issue'", "mine.toml, step 1 needs filters, or by_hand = true"),
        ("[[step]]\nkind = 'issue'\n[[step]]\nscore = 5", "mine.toml, step 2: score takes { min = …, max = … }, not 5"),
        ("[[step]]\nkind = 'issue'\npublished = 'many'", "mine.toml, step 1: published is a number of posts"),
        ("[[step]]\nkind = 'issue'\npublished = -1", "mine.toml, step 1: published is a number of posts"),
        ("[[step]]\nby_hand = 'yes'", "mine.toml, step 1: by_hand is true or false, not 'yes'"),
        ("[[step]]\nstep = 5\nkind = 'issue'", "mine.toml, step 1: step is its title, not 5"),
    ],
)
def test_a_faulty_preset_is_refused_with_the_place_of_its_fault(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    with pytest.raises(select.BadPreset) as refused:
        select.load(tmp_path / "mine.toml")
    assert line in str(refused.value)


def test_an_unknown_preset_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    for unknown in ("nope", str(tmp_path), ""):
        with pytest.raises(select.BadPreset, match="there are bugs, challenges, implementation, numerical"):
            select.load(unknown)
