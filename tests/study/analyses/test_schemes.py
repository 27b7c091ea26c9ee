"""Other people's labels in our words, and years without a calendar."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import ibis
import pytest
from analysis_material import answer, column, labels, material, post
from hypothesis import given
from hypothesis import strategies as st

from sleuth.study.label.store import Label
from sleuth.study.published import load_study
from sleuth.study.schemes import settle
from sleuth.study.years import year_of

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("triple", "expected"),
    [
        ("save,d,d", {"liu.phase": "data-processing", "liu.object": "data-processing/data", "liu.verb": "read"}),
        ("create,convolution layer,m", {"liu.phase": "model-setting", "liu.object": "model-setting/layer"}),
        ("restore,vgg16 trained model,m", {"liu.phase": "model-setting", "liu.object": "model-setting/trained-model"}),
        ("compute,loss,m", {"liu.phase": "model-training", "liu.object": "model-training/loss"}),
        ("change,dv,t", {"liu.phase": "model-training", "liu.object": "model-training/variable"}),
        ("use,gpu/cpu,r", {"liu.phase": "runtime-environment", "liu.object": "runtime-environment/gpu-cpu"}),
        ("compute auc,metric,e", {"liu.phase": "model-evaluation", "liu.object": "model-evaluation/other-metrics"}),
        ("no triple", {"liu.verb_object_phase": "no triple"}),
    ],
)
def test_the_shorthand_of_liu_becomes_the_printed_taxonomy(triple: str, expected: dict[str, str]):
    settled = settle([Label("so:1", "liu.verb_object_phase", triple, "final")])
    assert {scheme: label for _, scheme, _, label in settled.rows} == expected


def test_the_printed_taxonomy_comes_out_of_labels_in_shorthand():
    printed = next(table.values for table in load_study("liu").printed if table.role == "object")
    letters = {phase: letter for letter, phase in load_study("liu").extra["shorthand"]["phases"].items()}
    shorthand = [
        f"use,{name.partition('/')[2].replace('-', ' ')},{letters[name.partition('/')[0]]}"
        for name, posts in printed.items()
        for _ in range(int(posts))
    ]
    keys = [f"so:{number}" for number in range(1, len(shorthand) + 1)]
    said = labels("liu.verb_object_phase", zip(keys, shorthand, strict=True))
    found = material([post(key) for key in keys], said, "liu")
    for scheme in ("liu.phase", "liu.object"):
        comparisons = answer(found, f"distribution:{scheme}").comparisons
        assert comparisons
        assert all(each.same for each in comparisons)


def test_final_counts_over_raters_and_a_later_round_over_an_earlier():
    said = [
        Label("so:1", "kinds", "other", "ann"),
        Label("so:1", "kinds", "performance", "final"),
        Label("so:2", "kinds", "other", "ann", round=1),
        Label("so:2", "kinds", "performance", "ann", round=2),
        Label("so:2", "kinds", "performance", "bob", round=1),
    ]
    assert [row[3] for row in settle(said).rows] == ["performance", "performance"]


def test_a_post_labelled_by_the_taxonomy_has_its_phase_unless_phases_were_labelled():
    by_object = labels("taxonomy", {"so:1": "visualization/data"})
    assert ("so:1", "phases", 0, "visualization") in settle(by_object).rows
    both = settle([*by_object, *labels("phases", {"so:2": "model-setting"})])
    assert [row[0] for row in both.rows if row[1] == "phases"] == ["so:2"]


def test_public_spellings_become_the_codebook_s():
    said = labels("islam.bug_type", [("so:1", "data Bug"), ("so:2", "SB.CSB"), ("so:3", "brand new")])
    assert [row[3] for row in settle(said).rows] == ["data", "structural/control-and-sequence", "brand new"]


def test_the_library_that_was_written_down_counts_not_the_tags():
    posts = [post(f"so:{n}", tags=["tensorflow"]) for n in (1, 2)]
    said = labels("islam.library", {"so:1": "Keras"}) + labels("islam.bug_type", {"so:1": "API Bug", "so:2": "API Bug"})
    by_library = answer(material(posts, said), "distribution_by_framework:islam.bug_type")
    assert column(by_library, "posts") == {"keras": 1, "tensorflow": 1}
    # Somebody else's labels of the same posts know nothing of it.
    others = answer(material(posts, said + labels("kinds", {"so:1": "other"})), "distribution_by_framework:kinds")
    assert column(others, "posts") == {"tensorflow": 1}


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)))
def test_the_year_is_the_calendar_s(moment: datetime):
    assert year_of((moment.replace(tzinfo=timezone.utc) - _EPOCH) // timedelta(milliseconds=1)) == moment.year


def test_the_year_on_an_engine_is_the_same_around_every_new_year():
    new_years = [datetime(year, 1, 1, tzinfo=timezone.utc) for year in range(1969, 2101)]
    moments = [new_year + shift for new_year in new_years for shift in (-timedelta(milliseconds=1), timedelta())]
    in_ms = [(moment - _EPOCH) // timedelta(milliseconds=1) for moment in moments]
    table = ibis.memtable({"ms": in_ms})
    found = table.mutate(year=year_of(table.ms)).to_pyarrow().to_pylist()
    assert [(row["ms"], int(row["year"])) for row in found] == [
        (ms, moment.year) for ms, moment in zip(in_ms, moments, strict=True)
    ]
