"""`sleuth study analyse`, as people type it."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from analysis_material import DAY, at, post

from sleuth.study import corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus of four questions in `posts`, with labels of three and of a stranger."""
    (tmp_path / "posts" / corpus.POSTS).mkdir(parents=True)
    born = at("2020-03-01")
    rows = [
        post(f"so:{n}", views=100 * n, score=n, created_ms=born, accepted_ms=born + n * DAY, tags=["pytorch"])
        for n in range(1, 5)
    ]
    pq.write_table(
        pa.Table.from_pylist(rows, schema=corpus.COLUMNS), tmp_path / "posts" / corpus.POSTS / "part-0.parquet"
    )
    corpus.write_manifest(
        tmp_path / "posts", {"posts": 4, "funnel": [{"step": "all", "posts": 9}, {"step": "how to", "posts": 4}]}
    )
    said = {"so:1": "visualization", "so:2": "visualization", "so:3": "model-setting", "so:99": "model-setting"}
    usual = {"codebook": "phases", "rater": "ann", "round": 1, "at_ms": 1}
    lines = [json.dumps({"key": key, "label": label, **usual}) for key, label in said.items()]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def sleuth(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sleuth", "study", "analyse", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8")


def test_all_analyses_are_told_and_what_cannot_be_answered_in_a_line_each(folder: Path):
    ended = sleuth(folder, "posts", "--labels", "labels.jsonl")
    assert ended.returncode == 0
    assert ended.stderr == "sleuth: 1 of the labels is of no post in posts\n"
    assert "popularity:phases  Popularity" in ended.stdout
    assert "  how to      4" in ended.stdout
    assert "  root_cause_by_type: nothing is labelled by root-cause\n" in ended.stdout
    assert "\x1b" not in ended.stdout


def test_a_study_s_figures_stand_beside_ours(folder: Path):
    ended = sleuth(folder, "posts", "popularity", "--labels", "labels.jsonl", "--study", "liu")
    assert ended.returncode == 0
    assert "beside Liu et al., IST 2024: 0 of 7 the same" in ended.stdout
    assert "visualization: median views" in ended.stdout
    assert "1,047" in ended.stdout
    assert "-897" in ended.stdout


def test_a_table_about_a_paper_alone_is_told_only_where_that_paper_or_the_table_is_asked_for(folder: Path):
    about_the_paper = "The keyword classifier as published"
    assert about_the_paper not in sleuth(folder, "posts").stdout
    assert about_the_paper not in sleuth(folder, "posts", "--study", "liu").stdout
    assert about_the_paper in sleuth(folder, "posts", "--study", "zhang").stdout
    assert about_the_paper in sleuth(folder, "posts", "classifier").stdout


def test_json_holds_tables_figures_comparisons_and_what_was_skipped(folder: Path):
    ended = sleuth(
        folder, "posts", "--labels", "labels.jsonl", "--study", "liu", "--format", "json", "--output", "told.json"
    )
    assert (ended.returncode, ended.stdout) == (0, "")
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    by_name = {result["name"]: result for result in told["results"]}
    popularity = by_name["popularity:phases"]
    assert popularity["rows"][0] == ["model-setting", 300, 300, 3, 3, 1]
    assert popularity["figure"]["drawing"] == "bars"
    assert popularity["comparisons"][0] | {"note": ""} == {
        "what": "visualization: median views", "ours": 150, "published": 1047, "difference": -897, "same": False,
        "source": "Liu et al., IST 2024, popularity", "within": 0, "bound": "exactly", "note": "",
    }  # fmt: skip
    assert {"name": "root_cause_by_type", "why": "nothing is labelled by root-cause"} in told["skipped"]


def test_csv_is_one_table(folder: Path):
    ended = sleuth(folder, "posts", "difficulty", "--labels", "labels.jsonl", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ended.stdout)))
    assert [(row["label"], float(row["median days"])) for row in rows] == [
        ("model-setting", 3.0),
        ("visualization", 1.5),
    ]
    several = sleuth(folder, "posts", "--labels", "labels.jsonl", "--format", "csv")
    assert several.returncode == 2
    assert several.stderr.splitlines()[-1].startswith("sleuth: --format csv writes one table; name one of the ")


def test_the_list_says_what_each_needs(folder: Path):
    listed = sleuth(folder, "--list")
    assert listed.returncode == 0
    assert any(line.split()[0] == "popularity" and "posts, labels" in line for line in listed.stdout.splitlines())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "which corpus? `sleuth study analyse --list` shows the analyses"),
        (("nowhere",), "nowhere is not a corpus; `sleuth study ingest` makes one"),
        (("posts", "--study", "smith"), "there is no study 'smith'; there are islam, liu, wang, zhang"),
        (("posts", "--engine", "cray"), "there is no engine 'cray'; use duckdb or spark://host:port"),
        (("posts", "--labels", "none.csv"), "cannot read none.csv: No such file or directory"),
        (("posts", "popularity"), "popularity: nothing is labelled (--labels FILE)"),
    ],
)
def test_what_cannot_be_done_is_one_line(folder: Path, words: tuple[str, ...], line: str):
    ended = sleuth(folder, *words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == f"sleuth: {line}\n"


def test_a_corpus_without_posts_is_refused(folder: Path):
    (folder / "empty" / corpus.POSTS).mkdir(parents=True)
    corpus.write_manifest(folder / "empty", {"posts": 0, "parts": []})
    ended = sleuth(folder, "empty")
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", "sleuth: empty holds no posts\n")


def test_every_figure_is_drawn_as_a_file(folder: Path):
    ended = sleuth(folder, "posts", "popularity", "funnel", "--labels", "labels.jsonl", "--figures", "drawn")
    assert ended.returncode == 0
    names = {path.name for path in (folder / "drawn").iterdir()}
    assert names == {"popularity.phases.svg", "funnel.svg"}
    assert "visualization" in (folder / "drawn" / "popularity.phases.svg").read_text(encoding="utf-8")


def test_a_step_of_the_funnel_that_people_take_by_hand_is_left_out(folder: Path):
    steps = [{"step": "all", "posts": 9}, {"step": "read by hand", "posts": None}, {"step": "how to", "posts": 4}]
    corpus.write_manifest(folder / "posts", {"posts": 4, "funnel": steps})
    ended = sleuth(folder, "posts", "funnel", "--format", "json")
    assert [row[0] for row in json.loads(ended.stdout)["results"][0]["rows"]] == ["all", "how to"]
