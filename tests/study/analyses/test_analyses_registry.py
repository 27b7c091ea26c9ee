"""Every analysis is whole, answers a corpus that has everything, and draws columns that it has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import synthetic

from sleuth.study import analyses, engine
from sleuth.study.material import Material, gather
from sleuth.study.published import study_names
from sleuth.study.result import Result
from sleuth.study.schemes import ROLES, settle


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Material:
    corpus = synthetic.write(tmp_path_factory.mktemp("corpora") / "posts", 3000)
    keys = [key for part in corpus.parts for key in pq.read_table(part, columns=["key"])["key"].to_pylist()]
    material = gather(engine.connect(), corpus, settle(synthetic.labels(keys)))
    return replace(material, funnel=({"step": "all", "posts": 3000}, {"step": "asks how to", "posts": 120}))


@pytest.mark.parametrize("name", analyses.analysis_names())
def test_an_analysis_is_whole_and_answers(name: str, everything: Material):
    analysis = analyses.load_analysis(name)
    assert analysis.TITLE
    assert analysis.STUDIES
    assert set(analysis.STUDIES) <= set(study_names())
    assert set(analysis.NEEDS) <= {"posts", "funnel", "labels", *ROLES}
    outcomes = list(analyses.run(everything, [name]))
    results = [each for each in outcomes if isinstance(each, Result)]
    if not set(analysis.NEEDS) & {"fix"}:
        assert results, outcomes
    for result in results:
        assert result.rows
        assert all(len(row) == len(result.columns) for row in result.rows)
        assert len(set(result.columns)) == len(result.columns)
        drawn = result.figure and {result.figure.x, result.figure.y, result.figure.series, result.figure.value} - {None}
        assert drawn
        assert drawn <= set(result.columns)
        keys = getattr(analysis, "KEYS", 1)
        assert len({row[:keys] for row in result.rows}) == len(result.rows)


def test_every_study_has_its_analyses():
    held = {study for name in analyses.analysis_names() for study in analyses.load_analysis(name).STUDIES}
    assert held == set(study_names())


def test_a_name_that_is_none_is_refused_with_the_list():
    with pytest.raises(analyses.NoAnalysis, match=r"there is no analysis 'popularty'; there are .*popularity"):
        analyses.load_analysis("popularty")


def test_an_analysis_file_holds_one_analysis_and_is_short():
    for path in Path(analyses.__file__).parent.glob("[a-z]*.py"):
        assert path.read_text(encoding="utf-8").count("def analyse(") == 1


def test_an_analysis_of_two_schemes_that_no_source_has_both_of_names_them():
    by_both = analyses._unfilled(analyses.load_analysis("kind_by_root_cause"), "")
    assert by_both == "no source labels its posts by both kind and root-cause"
