"""The printed figures are written down rightly, and stand beside the cells they belong to."""

from __future__ import annotations

from collections import Counter

import pytest
from analysis_material import answer, labels, material, post

from sleuth.study.analyses import analysis_names, load_analysis
from sleuth.study.label.codebook import load_codebook
from sleuth.study.published import NoStudy, Printed, all_studies, how_near, load_study
from sleuth.study.result import Comparison
from sleuth.study.schemes import ROLES


def printed(study: str, **fields: str) -> Printed:
    """The one table that is so, of single rows."""
    tables = [each for each in load_study(study).printed if not any(" + " in name for name in each.values)]
    (table,) = [each for each in tables if all(getattr(each, name) == value for name, value in fields.items())]
    return table


def test_every_printed_table_belongs_to_an_analysis_and_a_question():
    for study in all_studies():
        for table in study.printed:
            assert table.analysis in analysis_names()
            assert table.role is None or table.role in ROLES
            assert study.name in load_analysis(table.analysis).STUDIES
            assert table.values


def test_the_taxonomy_of_liu_adds_up():
    phases = printed("liu", analysis="distribution", role="phase", column="posts").values
    objects = printed("liu", role="object", analysis="distribution").values
    verbs = printed("liu", role="verb").values
    by_phase: Counter[str] = Counter()
    for name, posts in objects.items():
        by_phase[name.partition("/")[0]] += int(posts)
    assert (len(objects), len(phases)) == (63, 7)
    assert dict(by_phase) == dict(phases)
    assert sum(phases.values()) == load_study("liu").posts == 2401
    assert sum(verbs.values()) == phases["data-processing"]
    assert sum(posts for name, posts in printed("liu", analysis="frameworks").values.items() if name != "all") == 2401


def test_no_verb_is_in_two_groups():
    groups = load_study("liu").extra["shorthand"]["verbs"]
    verbs = [verb for group in groups.values() for verb in group]
    assert set(groups) == set(printed("liu", role="verb").values)
    assert len(set(verbs)) == len(verbs)


@pytest.mark.parametrize(
    ("study", "role", "codebook"),
    [
        ("liu", "phase", "phases"),
        ("liu", "object", "taxonomy"),
        ("liu", "verb", "verbs"),
        ("zhang", "kind", "kinds"),
        ("islam", "bug-type", "bug-types"),
        ("islam", "root-cause", "root-causes"),
        ("islam", "effect", "effects"),
        ("islam", "stage", "stages"),
        ("wang", "numerical-cause", "numerical-causes"),
        ("wang", "numerical-fix", "numerical-fixes"),
    ],
)
def test_printed_rows_have_the_names_of_the_codebook(study: str, role: str, codebook: str):
    tables = [table for table in load_study(study).printed if table.role == role]
    names = {
        # The rows of `evolution` begin with a year.
        part.split("/", 1)[1] if table.analysis == "evolution" else part
        for table in tables
        if table.analysis != "framework_correlation"
        for name in table.values
        for part in name.split(" + ")
    }
    known = load_codebook(codebook)
    assert names
    assert [name for name in names if name not in known] == []


def test_a_count_must_be_the_very_same_and_a_rounded_number_within_its_last_digit():
    assert not Comparison("views", 614.5, 639, "", within=how_near(614.5, 639, None)[0]).same
    assert how_near(0.149, 0.15, 2) == (0.005, "")
    assert how_near(0.1166, 0.11, 2)[0] == pytest.approx(0.01)
    assert "cut off" in how_near(0.1166, 0.11, 2)[1]
    within, remark = how_near(0.131, 0.11, 2)
    assert (within, remark) == (0.005, "")
    assert not Comparison("days", 0.131, 0.11, "", within=within).same


def test_a_bound_is_met_from_above_only():
    assert Comparison("crash", 66.4, 66, "", bound="above").same
    assert not Comparison("crash", 65.9, 66, "", bound="above").same
    assert not Comparison("crash", None, 66, "", bound="above").same


def test_figures_of_several_rows_together_are_summed():
    said = labels("bug-types", {"so:1": "data", "so:2": "structural/logic", "so:3": "api", "so:4": "api"})
    found = answer(material([post(f"so:{n}") for n in range(1, 5)], said, "islam"), "distribution")
    ours = {each.what: each.ours for each in found.comparisons}
    assert ours == {"data: percent": 25.0, "data + structural/logic + non-model/logic: percent": 50.0}


def test_figures_stand_beside_a_study_s_own_labels_and_others_only_when_asked():
    posts = [post("so:1"), post("so:2")]
    mine = labels("phases", {"so:1": "visualization"})
    assert answer(material(posts, mine), "distribution").comparisons == ()
    assert answer(material(posts, mine, "liu"), "distribution").comparisons
    assert answer(material(posts, labels("liu.phase", {"so:1": "visualization"})), "distribution").comparisons


def test_an_unknown_study_is_refused_with_the_list():
    with pytest.raises(NoStudy, match="there is no study 'smith'; there are islam, liu, wang, zhang"):
        load_study("smith")
