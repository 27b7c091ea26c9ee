"""`sleuth study report`, as people type it, on a corpus that nobody wrote."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import synthetic

from sleuth.cli import main
from sleuth.study import analyses, corpus, engine
from sleuth.study.label.sample import deal_of, draw, write_sample
from sleuth.study.label.store import Label, Labels, read_labels
from sleuth.study.published import load_study
from sleuth.study.report.gather import Asked, gather
from sleuth.study.report.holdings import holdings
from sleuth.study.report.lineage import lineage

POSTS = 1500


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus, a selection of it with a funnel, a sample of that, and two raters' labels."""
    root = tmp_path_factory.mktemp("report")
    whole = synthetic.write(root / "whole", POSTS)
    corpus.write_manifest(root / "whole", {**without_schema(whole.manifest), "posts": POSTS, "set_aside": 3})
    chosen = synthetic.write(root / "chosen", POSTS // 2)
    funnel = [
        {"step": "in the corpus", "posts": POSTS},
        {"step": "the first half", "posts": POSTS // 2, "published": 700},
        {"step": "read by people", "posts": None, "published": 99},
    ]
    preset = {"name": "half", "title": "The first half", "source": "Doe", "text": "[[step]]\nhalf = true"}
    said = {"from": str(root / "whole"), "posts": POSTS // 2, "funnel": funnel, "preset": preset}
    corpus.write_manifest(root / "chosen", {**without_schema(chosen.manifest), **said})
    selected = corpus.open_corpus(root / "chosen")
    sample = draw(engine.connect(), selected, deal_of("proportional", size=60), seed=3)
    write_sample(sample, root / "sample.json")
    kinds = ("program-crash", "implementation", "performance")
    with open(root / "labels.jsonl", "w", encoding="utf-8") as file:
        for number, post in enumerate(sample.posts):
            for rater, label in (("ann", kinds[number % 3]), ("bob", kinds[0 if number % 10 == 0 else number % 3])):
                file.write(json.dumps({"key": post.key, "codebook": "kinds", "label": label, "rater": rater}) + "\n")
    return root


def without_schema(manifest: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in manifest.items() if name != "schema"}


def as_a_process(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sleuth", "study", "report", *words],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


@pytest.fixture
def sleuth(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The command in this process, standing in the folder; gives the exit status."""
    monkeypatch.chdir(folder)
    return lambda *words: main(["study", "report", *words])


def test_a_page_is_written_and_its_size_is_told(folder: Path, browser: Any) -> None:
    run = as_a_process(folder, "chosen", "--labels", "labels.jsonl", "--sample", "sample.json", "--output", "out.html")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("out.html: ")
    page = browser.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.goto((folder / "out.html").as_uri())
    text = page.inner_text("main")
    for said in (
        "The first half",  # the preset
        "read by people",  # a step of the funnel
        "60 of ",  # the sample
        "ann, bob",
        "Agreement of the raters",
        "3 rows set aside",
        "sleuth study report chosen --labels labels.jsonl --sample sample.json",
        "duckdb",
        "How often each label was given",
        "disputed posts left out",
        "Analyses that could not be run",
    ):
        assert said in text, said
    assert complaints == []
    assert page.locator("article svg").count() > 8
    page.close()


def test_without_labels_it_tells_what_the_posts_alone_can_tell(folder: Path, sleuth: Callable[..., int]) -> None:
    assert sleuth("chosen", "--output", "bare.html") == 0
    page = (folder / "bare.html").read_text(encoding="utf-8")
    assert "Posts by year and framework" in page
    assert "nothing is labelled (--labels FILE)" in page
    assert "Agreement of the raters" not in page


def test_tables_and_pictures_are_written_beside_a_markdown_file(folder: Path, sleuth: Callable[..., int]) -> None:
    assert sleuth("chosen", "--labels", "labels.jsonl", "--format", "markdown", "--output", "out.md") == 0
    text = (folder / "out.md").read_text(encoding="utf-8")
    assert "](out-figures/funnel.svg)" in text
    assert (folder / "out-figures" / "distribution.kinds.svg").is_file()


def test_csv_and_parquet_hold_the_same_numbers(
    folder: Path, sleuth: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    for form in ("csv", "parquet"):
        assert sleuth("chosen", "--labels", "labels.jsonl", "--format", form, "--output", f"as-{form}") == 0
        assert capsys.readouterr().out.startswith(f"as-{form}: ")
    with open(folder / "as-csv" / "distribution.kinds.csv", encoding="utf-8", newline="") as file:
        found = {row["label"]: int(row["posts"]) for row in csv.DictReader(file)}
    table = pq.read_table(folder / "as-parquet" / "distribution.kinds.parquet")
    assert found == dict(zip(table["label"].to_pylist(), table["posts"].to_pylist(), strict=True))
    assert sum(found.values()) == 60 - 4  # bob differs on every tenth, unless the tenth is a crash anyway


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["nowhere"], "nowhere is not a corpus; `sleuth study ingest` makes one"),
        (["chosen", "--labels", "none.jsonl"], "cannot read none.jsonl: No such file or directory"),
        (["chosen", "--sample", "labels.jsonl"], "labels.jsonl"),
        (["chosen", "--engine", "abacus"], "there is no engine 'abacus'; use duckdb or spark://host:port"),
        (["chosen", "--output", "no/such/place.html"], "cannot write the report to no/such/place.html"),
        (["chosen", "--format", "csv", "--output", "no/such/place"], "cannot write the report to no/such/place"),
        (["chosen", "--format", "csv", "--output", "whole"], "whole is there already, and holds no tables of a report"),
        (["chosen", "--study", "doe"], "invalid choice: 'doe'"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    sleuth: Callable[..., int], capsys: pytest.CaptureFixture[str], words: list[str], line: str
) -> None:
    assert sleuth(*words) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("sleuth: ")
    assert line in said.err
    assert said.err.count("\n") == 1


def test_an_analysis_that_fails_leaves_the_others_standing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(material: Any) -> Any:
        raise ZeroDivisionError("of our own making")

    monkeypatch.setattr(analyses.load_analysis("growth"), "analyse", broken)
    told: list[tuple[int, int]] = []
    report = gather(Asked(corpus.open_corpus(folder / "chosen")), lambda done, total: told.append((done, total)))
    (failed,) = (item for item in report.not_run if item.name == "growth")
    assert failed.why == "it failed inside Sleuth: ZeroDivisionError: of our own making"
    assert any(result.name == "frameworks" for result in report.results)
    assert told == [(number, len(told)) for number in range(len(told))]


def test_a_study_has_its_own_tables_and_figures_only(folder: Path) -> None:
    labels = read_labels(folder / "labels.jsonl")
    report = gather(Asked(corpus.open_corpus(folder / "chosen"), labels, study=load_study("wang")))
    names = {result.name.partition(":")[0] for result in report.results} | {item.name for item in report.not_run}
    assert all("wang" in analyses.load_analysis(name).STUDIES for name in names)
    assert "Not the paper's corpus" in [threat.title for threat in report.threats]


def test_what_the_posts_lack_is_counted(folder: Path) -> None:
    posts = synthetic.posts(400).to_pylist()
    asked = [post for post in posts if (post["kind_of_post"] or "other") != "answer"]
    connection = engine.connect()
    table = engine.posts(connection, corpus.open_corpus(synthetic_copy(folder, posts)))
    held = holdings(table.filter(table.kind_of_post.fill_null("other") != "answer"))
    assert held.posts == len(asked)
    assert held.without_views == sum(post["views"] is None for post in asked)
    assert held.without_text == sum(not (post["text"] or "").strip() for post in asked)
    assert held.without_tags == sum(not post["tags"] for post in asked)
    assert held.repeated == len(asked) - len({post["key"] for post in asked})
    assert held.first_ms == min(post["created_ms"] for post in asked if post["created_ms"] is not None)
    assert sum(held.kinds.values()) == sum(held.sites.values()) == len(asked)


def synthetic_copy(folder: Path, posts: list[dict[str, Any]]) -> Path:
    into = folder / f"copy-{len(posts)}"
    (into / corpus.POSTS).mkdir(parents=True, exist_ok=True)
    pq.write_table(synthetic.posts(len(posts)), into / corpus.POSTS / "part-00000.parquet")
    corpus.write_manifest(into, {"posts": len(posts)})
    return into


def test_the_chain_of_selections_is_followed_as_far_as_it_goes(folder: Path, tmp_path: Path) -> None:
    found = lineage(corpus.open_corpus(folder / "chosen"))
    assert (found.taken_in, found.set_aside, found.lost) == (POSTS, 3, "")
    assert [step.posts for step in found.funnel] == [POSTS, POSTS // 2, None]
    (tmp_path / corpus.POSTS).mkdir()
    corpus.write_manifest(tmp_path, {"posts": 0, "from": str(tmp_path / "gone")})
    assert lineage(corpus.open_corpus(tmp_path)).lost == "gone"
    corpus.write_manifest(tmp_path, {"posts": 0, "from": str(tmp_path)})
    assert len(lineage(corpus.open_corpus(tmp_path)).manifests) == 20  # a circle ends


def test_filters_typed_by_hand_are_no_title(tmp_path: Path) -> None:
    chosen = synthetic.write(tmp_path / "chosen", 5)
    preset = {"name": "filters", "title": "by the filters given", "source": "", "text": ""}
    corpus.write_manifest(tmp_path / "chosen", {**without_schema(chosen.manifest), "preset": preset})
    ended = as_a_process(tmp_path, "chosen", "--format", "markdown", "--output", "report.md")
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# A study of posts\n")


def test_an_empty_corpus_makes_a_short_report(tmp_path: Path) -> None:
    (tmp_path / corpus.POSTS).mkdir()
    corpus.write_manifest(tmp_path, {"posts": 0})
    report = gather(Asked(corpus.open_corpus(tmp_path)))
    assert report.headline[0].value == "0"


def test_labels_by_one_rater_are_no_agreement(folder: Path) -> None:
    key = corpus_key(folder)
    labels = Labels((Label(key, "kinds", "program-crash", "ann"),))
    report = gather(Asked(corpus.open_corpus(folder / "chosen"), labels))
    titles = [passage.title for passage in report.method]
    assert "Agreement of the raters" not in titles
    assert "One rater only" in [threat.title for threat in report.threats]


def corpus_key(folder: Path) -> str:
    table = pq.read_table(folder / "chosen" / corpus.POSTS)
    return str(next(row["key"] for row in table.to_pylist() if row["kind_of_post"] == "question"))
