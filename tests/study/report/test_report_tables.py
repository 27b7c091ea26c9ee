"""The report for another program: CSV, Parquet and Markdown."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest
from report_example import PHASES, example

from sleuth.study.report import tables
from sleuth.study.report.content import Fact, Report
from sleuth.study.report.findings import findings
from sleuth.study.report.groups import grouped
from sleuth.study.report.markdown import markdown
from sleuth.study.report.names import file_names
from sleuth.study.report.page import html
from sleuth.study.report.pivot import for_reading
from sleuth.study.report.tables import CannotWrite, write
from sleuth.study.result import Figure, Result


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_table_is_a_csv_file_and_the_list_names_them(report: Report, tmp_path: Path) -> None:
    names = write(report, tmp_path / "out", "csv")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(names)
    listed = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert {table["file"] for table in listed["tables"]} == set(names) - {"report.json"}
    shares = rows_of(tmp_path / "out" / "distribution.csv")
    assert [row["phase"] for row in shares] == list(PHASES)
    assert [int(row["posts"]) for row in shares] == [1125, 643, 306, 111]
    assert next(row["step"] for row in rows_of(tmp_path / "out" / "funnel.csv")) == "tagged with a framework"
    assert rows_of(tmp_path / "out" / "threats.csv")[0]["weight"] == "grave"


def test_comparisons_are_a_table_of_their_own(report: Report, tmp_path: Path) -> None:
    write(report, tmp_path / "out", "csv")
    found = rows_of(tmp_path / "out" / "comparisons.csv")
    assert [row["verdict"] for row in found] == ["same", "differs", "not computed", "same"]
    assert (float(found[1]["here"]), float(found[1]["published"]), float(found[1]["difference"])) == (643, 639, 4)
    assert found[2]["here"] == ""


def test_parquet_keeps_numbers_as_numbers(report: Report, tmp_path: Path) -> None:
    odd = Result("odd:one", "Odd", ("n", "x", "mixed", "none"), ((1, 0.5, "a", None), (None, 2, 3, None)))
    write(replace(report, results=(*report.results, odd)), tmp_path / "out", "parquet")
    table = pq.read_table(tmp_path / "out" / "odd.one.parquet")
    assert [str(field.type) for field in table.schema] == ["int64", "double", "string", "string"]
    assert table.to_pylist() == [
        {"n": 1, "x": 0.5, "mixed": "a", "none": None},
        {"n": None, "x": 2.0, "mixed": "3", "none": None},
    ]
    assert table.schema.metadata[b"title"] == b"Odd"
    found = pq.read_table(tmp_path / "out" / "comparisons.parquet")
    assert found["here"].to_pylist() == [1125, 643, None, 5.08]


def test_an_earlier_report_is_replaced_and_nothing_else(report: Report, tmp_path: Path) -> None:
    write(report, tmp_path / "out", "csv")
    write(replace(report, results=report.results[:1]), tmp_path / "out", "csv")
    assert not (tmp_path / "out" / "causes.csv").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(CannotWrite, match="mine is there already, and holds no tables of a report"):
        write(report, tmp_path / "mine", "csv")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"


def test_a_failure_leaves_the_old_tables_and_no_draft(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(report, tmp_path / "out", "csv")
    before = sorted(path.name for path in (tmp_path / "out").iterdir())

    def full(table: Result, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tables, "_write_csv", full)
    with pytest.raises(CannotWrite, match="No space left on device"):
        write(report, tmp_path / "out", "csv")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_names_of_files_are_safe_and_each_its_own() -> None:
    assert file_names(["a:b.c", "A:b.c", "../../etc/x", "", "é/ü", "a:b.c"]) == [
        "a.b.c",
        "A.b.c-2",
        "etc-x",
        "table",
        "table-2",
        "a.b.c-3",
    ]


def test_markdown_holds_every_table_and_names_every_picture(report: Report) -> None:
    text, pictures = markdown(report, "figures")
    assert set(re.findall(r"\(figures/([^)]+)\)", text)) == set(pictures)
    assert len(pictures) == len(report.results) + 1
    for picture in pictures.values():
        ElementTree.fromstring(picture)
    assert "| model-setting: posts (one cell of the paper's table) | **≠ differs** | 643 | 639 | +4 |" in text
    assert "1 of 4 figures are not as published:" in text
    assert "- **One rater only** (can change a conclusion): Nobody has checked the labels." in text
    assert "```\nsleuth study report corpus --output report.html\n```" in text


def test_markdown_tables_have_as_many_cells_in_every_line() -> None:
    awkward = Result("x", "A | B", ("a|b", "c"), (("x | y\nz", 1), ("<img>", None), ("back\\slash", 2.5)))
    text, _ = markdown(replace(example(), results=(awkward,)), "figures")
    start = text.index("| a\\|b | c |")
    lines = text[start:].split("\n\n")[0].splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {3}
    assert "<img>" not in text


def test_a_long_table_is_crossed_for_reading() -> None:
    rows = tuple((year, phase, at + year) for year in (2015, 2016) for at, phase in enumerate(PHASES))
    long = Result("r", "R", ("year", "phase", "posts"), rows, Figure("lines", "year", "posts", "phase"))
    reading = for_reading(long)
    assert reading.table.columns == ("phase", "2015", "2016")
    assert reading.table.rows[0] == ("data-processing", 2015, 2016)
    assert reading.caption == "posts by phase and year"


def test_a_table_that_says_a_crossing_twice_is_left_as_it_is() -> None:
    rows = tuple((year, phase, 1) for year in (2015, 2015) for phase in PHASES)
    long = Result("r", "R", ("year", "phase", "posts"), rows, Figure("lines", "year", "posts", "phase"))
    assert for_reading(long).table is long


def test_what_stands_out_needs_enough_posts() -> None:
    columns = ("label", "median views", "posts")
    popular = Result("popularity:kinds", "P", columns, (("rare", 9000.0, 2), ("crash", 700.0, 50), ("slow", 30.5, 60)))
    assert list(findings((popular,))) == [Fact("most viewed", "crash", "median views 700, kinds")]
    shares = Result("distribution:kinds", "D", ("label", "posts", "percent"), (("a", 60, 60.04), ("b", 40, 39.96)))
    assert list(findings((shares,))) == [Fact("most frequent", "a", "60.0 %, kinds")]
    assert list(findings((Result("distribution:kinds", "D", ("label", "posts", "percent"), ()),))) == []


def test_results_are_told_in_the_order_of_a_paper() -> None:
    names = ("unheard_of", "popularity:b", "distribution:b", "growth", "root_cause_by_type:a:b", "difficulty:b")
    results = tuple(Result(name, name, ("a",), ()) for name in names)
    told = [result.name for _, members in grouped(results) for result in members]
    assert told == ["growth", "distribution:b", "popularity:b", "difficulty:b", "root_cause_by_type:a:b", "unheard_of"]


def test_what_came_out_is_told_before_how_it_was_found() -> None:
    wanted = ["In short", "Results", "Threats to validity", "How the posts were selected", "Method"]
    titles = re.findall(r"<h2>(.*?)</h2>", html(example()))
    assert titles[: len(wanted)] == wanted
    text, _ = markdown(example(), "figures")
    assert text.index("## Results") < text.index("## Threats") < text.index("## Method")
