"""A seed draws the same posts everywhere, every post has the same chance, and weights add up to the corpus."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic

from sleuth.cli import main
from sleuth.study import corpus as corpora
from sleuth.study import engine
from sleuth.study.classify.texts import batches_of
from sleuth.study.corpus import Corpus
from sleuth.study.label import sizes
from sleuth.study.label.sample import Sample, as_json, deal_of, draw, read_sample, write_sample
from sleuth.study.label.store import Label, LabelFile

COUNT = 3000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return synthetic.write(tmp_path_factory.mktemp("corpus") / "posts", COUNT)


@pytest.fixture(scope="module")
def duckdb() -> Any:
    return engine.connect()


def _rows(corpus: Corpus) -> list[dict[str, Any]]:
    rows = [row for part in corpus.parts for row in pq.read_table(part).to_pylist()]
    return [
        row for row in rows if row["kind_of_post"] in ("question", "issue", "pull-request", "commit") or row["title"]
    ]


def _tiny(folder: Path, keys: list[str], tags: list[list[str]] | None = None) -> Corpus:
    (folder / corpora.POSTS).mkdir(parents=True)
    rows = [
        {"key": key, "kind_of_post": "question", "tags": (tags or [[]] * len(keys))[n]} for n, key in enumerate(keys)
    ]
    pq.write_table(pa.Table.from_pylist(rows, corpora.COLUMNS), folder / corpora.POSTS / "part-00000.parquet")
    corpora.write_manifest(folder, {})
    return corpora.open_corpus(folder)


def test_a_sample_is_the_first_posts_in_the_order_of_a_digest_that_anyone_can_compute(
    corpus: Corpus, duckdb: Any
) -> None:
    drawn = draw(duckdb, corpus, deal_of("proportional", 50), seed=7)
    order = sorted((row["key"] for row in _rows(corpus)), key=lambda key: hashlib.md5(f"7:{key}".encode()).hexdigest())
    assert [post.key for post in drawn.posts] == order[:50]


def test_another_seed_draws_other_posts(corpus: Corpus, duckdb: Any) -> None:
    keys = [{post.key for post in draw(duckdb, corpus, deal_of("proportional", 50), seed=s).posts} for s in (0, 1)]
    assert len(keys[0] & keys[1]) < 15


def test_every_post_has_the_same_chance(tmp_path: Path, duckdb: Any) -> None:
    tiny = _tiny(tmp_path / "tiny", [f"so:{number}" for number in range(10)])
    times: Counter[str] = Counter()
    for seed in range(30):
        times.update(post.key for post in draw(duckdb, tiny, deal_of("proportional", 5), seed=seed).posts)
    # 15 expected, with a standard deviation of 2.7.
    assert all(4 <= times[f"so:{number}"] <= 26 for number in range(10)), times


def test_without_a_size_as_many_are_drawn_as_the_margin_needs(corpus: Corpus, duckdb: Any) -> None:
    drawn = draw(duckdb, corpus, deal_of("proportional"))
    assert len(drawn.posts) == sizes.sample_size(len(_rows(corpus)))
    assert (drawn.design, drawn.population) == ("random", len(_rows(corpus)))


@pytest.mark.parametrize("share", ["proportional", "equal"])
@pytest.mark.parametrize("by", ["year", "site", "tag:tensorflow,pytorch,keras"])
def test_weights_of_a_stratified_sample_add_up_to_each_stratum(
    corpus: Corpus, duckdb: Any, by: str, share: Any
) -> None:
    drawn = draw(duckdb, corpus, deal_of(share, 200), by=by)
    assert len(drawn.posts) == 200
    for stratum in drawn.strata:
        mine = [post.weight for post in drawn.posts if post.stratum == stratum.name]
        assert len(mine) == stratum.sampled
        assert sum(mine) == pytest.approx(stratum.population)


def test_strata_by_year_are_the_years_in_utc(corpus: Corpus, duckdb: Any) -> None:
    import datetime

    def year(ms: int | None) -> str:
        return "unknown" if ms is None else str(datetime.datetime.fromtimestamp(ms / 1000, datetime.timezone.utc).year)

    drawn = draw(duckdb, corpus, deal_of("proportional", 100), by="year")
    counted = Counter(year(row["created_ms"]) for row in _rows(corpus))
    assert {stratum.name: stratum.population for stratum in drawn.strata} == counted


def test_a_post_with_several_tags_is_in_the_stratum_of_the_first_one_named(tmp_path: Path, duckdb: Any) -> None:
    tiny = _tiny(tmp_path / "tiny", ["so:1", "so:2", "so:3", "so:4"], [["a", "b"], ["b"], ["c", "a"], []])
    drawn = draw(duckdb, tiny, deal_of("proportional", 4), by="tag:b,a")
    assert {post.key: post.stratum for post in drawn.posts} == {
        "so:1": "b",
        "so:2": "b",
        "so:3": "a",
        "so:4": "other",
    }


def test_strata_by_label_know_the_disputed_and_the_unlabelled(tmp_path: Path, duckdb: Any) -> None:
    tiny = _tiny(tmp_path / "tiny", ["so:1", "so:2", "so:3"])
    said = [("so:1", "crash", "a"), ("so:1", "crash", "b"), ("so:2", "hang", "a"), ("so:2", "crash", "b")]
    labels = [Label(key, "effects", label, rater) for key, label, rater in said]
    drawn = draw(duckdb, tiny, deal_of("equal", 3), by="label", labels=labels)
    assert {post.key: post.stratum for post in drawn.posts} == {
        "so:1": "crash",
        "so:2": "disputed",
        "so:3": "unlabelled",
    }


def test_sizes_can_be_given_stratum_by_stratum(corpus: Corpus, duckdb: Any) -> None:
    drawn = draw(duckdb, corpus, lambda populations: sizes.given({"github": 5}, populations), by="site")
    assert {stratum.name: stratum.sampled for stratum in drawn.strata} == {"github": 5, "stackoverflow": 0}


def test_a_second_sample_can_leave_out_the_first(corpus: Corpus, duckdb: Any) -> None:
    first = {post.key for post in draw(duckdb, corpus, deal_of("proportional", 100)).posts}
    second = draw(duckdb, corpus, deal_of("proportional", 100), without=first)
    assert not first & {post.key for post in second.posts}
    assert second.population == len(_rows(corpus)) - 100


def test_a_post_that_is_in_the_corpus_twice_is_drawn_once(tmp_path: Path, duckdb: Any) -> None:
    tiny = _tiny(tmp_path / "tiny", ["so:1", "so:1", "so:2"])
    assert sorted(post.key for post in draw(duckdb, tiny, deal_of("proportional", 9)).posts) == ["so:1", "so:2"]


def test_an_empty_corpus_gives_an_empty_sample(tmp_path: Path, duckdb: Any) -> None:
    assert draw(duckdb, _tiny(tmp_path / "tiny", []), deal_of("proportional")).posts == ()


@pytest.mark.parametrize("by", ["title", "tags", "colour"])
def test_what_makes_no_strata_is_refused(corpus: Corpus, duckdb: Any, by: str) -> None:
    with pytest.raises(sizes.BadSize, match=f"cannot stratify by '{by}'"):
        draw(duckdb, corpus, deal_of("proportional"), by=by)


@pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")
def test_spark_draws_the_very_same_posts(corpus: Corpus, duckdb: Any) -> None:
    spark = engine.connect("local[1]")
    labels = [
        Label(row["key"], "kinds", "other" if number % 3 else "crash", "a") for number, row in enumerate(_rows(corpus))
    ]
    try:
        there, here = (
            draw(each, corpus, deal_of("equal", 60), seed=3, by="label", labels=labels[:200], without={"so:0"})
            for each in (spark, duckdb)
        )
        assert there == here
    finally:
        spark.disconnect()


def test_a_sample_is_read_back_as_it_was_written_and_never_overwritten_unasked(
    corpus: Corpus, duckdb: Any, tmp_path: Path
) -> None:
    drawn = draw(duckdb, corpus, deal_of("proportional", 20), by="year")
    write_sample(drawn, tmp_path / "sample.json")
    assert read_sample(tmp_path / "sample.json") == drawn
    other = Sample(drawn.corpus, 1, None, (), ())
    with pytest.raises(Exception, match="is there already"):
        write_sample(other, tmp_path / "sample.json")
    assert read_sample(tmp_path / "sample.json") == drawn
    write_sample(other, tmp_path / "sample.json", force=True)
    assert read_sample(tmp_path / "sample.json") == other


def test_the_file_has_the_agreed_shape(corpus: Corpus, duckdb: Any) -> None:
    data = as_json(draw(duckdb, corpus, deal_of("proportional", 20), seed=4))
    assert {"schema", "corpus", "seed", "design", "strata", "posts"} <= data.keys()
    assert (data["schema"], data["seed"], data["design"]) == (1, 4, "random")
    assert data["corpus"] == str(corpus.folder.resolve())
    assert data["strata"] == [{"name": "all", "population": len(_rows(corpus)), "sampled": 20}]
    assert data["posts"][0].keys() == {"key", "stratum", "weight"}


def test_the_command_counts_draws_and_refuses(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = tmp_path / "sample.json"
    assert main(["study", "sample", str(corpus.folder)]) == 0
    population = len(_rows(corpus))
    size = sizes.sample_size(population)
    assert f"{size:,} of {population:,} posts: 95 % confidence, ±5.0 %; seed 0\n" in capsys.readouterr().out
    assert main(["study", "sample", str(corpus.folder), "--by", "year", "--size", "40", "--into", str(into)]) == 0
    assert "weight" in capsys.readouterr().out
    assert len(read_sample(into).posts) == 40
    before = into.read_bytes()
    assert main(["study", "sample", str(corpus.folder), "--into", str(into)]) == 2
    assert capsys.readouterr().err == f"sleuth: {into} is there already; --force replaces it\n"
    assert into.read_bytes() == before


def test_the_command_leaves_out_what_a_sample_or_labels_hold(
    corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["study", "sample", str(corpus.folder), "--format", "json"]
    assert main([*base, "--size", "30", "--into", str(tmp_path / "first.json")]) == 0
    taken = {post.key for post in read_sample(tmp_path / "first.json").posts}
    left = next(row["key"] for row in _rows(corpus) if row["key"] not in taken)
    with LabelFile(tmp_path / "labels.jsonl") as file:
        file.append(Label(left, "kinds", "other", "ann"))
    capsys.readouterr()
    without = ["--without", str(tmp_path / "first.json"), "--without", str(tmp_path / "labels.jsonl")]
    assert main([*base, *without]) == 0
    assert json.loads(capsys.readouterr().out)["population"] == len(_rows(corpus)) - 31


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--size", "0"], "a sample holds one post at least"),
        (["--by", "label"], "--by label and --labels FILE go together"),
        (["--take", "2018=3"], "say with --by what they are"),
        (["--by", "year", "--take", "2018"], "say NAME=N"),
        (["--by", "year", "--take", "2018=3", "--size", "4"], "leave --size out"),
        (["--by", "year", "--take", "1066=3"], "there is no stratum '1066'"),
        (["--margin", "5"], "a margin lies between 0 and 1"),
        (["--without", "nowhere.json"], "--without nowhere.json: there is no such file"),
        (["--engine", "abacus"], "there is no engine 'abacus'"),
    ],
)
def test_the_command_refuses_in_one_line(
    corpus: Corpus, capsys: pytest.CaptureFixture[str], options: list[str], complaint: str
) -> None:
    assert main(["study", "sample", str(corpus.folder), *options]) == 2
    error = capsys.readouterr().err
    assert complaint in error
    assert error.count("\n") == 1


def test_the_command_draws_no_empty_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty, into = _tiny(tmp_path / "tiny", []), tmp_path / "sample.json"
    assert main(["study", "sample", str(empty.folder), "--into", str(into)]) == 2
    assert capsys.readouterr().err == f"sleuth: there is no post to draw in {empty.folder}\n"
    assert not into.exists()


def test_a_page_that_explains_a_tag_is_not_drawn_and_one_with_a_title_is(tmp_path: Path, duckdb: Any) -> None:
    table = synthetic.posts(20)
    kinds = pa.array(["other", "other", "answer", *["question"] * 17], pa.string())
    titles = pa.array([None, "A page", None, *["How?"] * 17], pa.string())
    for name, column in (("kind_of_post", kinds), ("title", titles)):
        table = table.set_column(table.schema.get_field_index(name), name, column)
    made = synthetic.write(tmp_path / "posts", 20)
    pq.write_table(table, made.parts[0])
    drawn = {post.key for post in draw(duckdb, made, deal_of("proportional", 100)).posts}
    assert drawn == set(table["key"].to_pylist()[1:2] + table["key"].to_pylist()[3:])
    assert {key for batch in batches_of(made.folder) for key, _ in batch} == drawn


def test_strata_that_are_numbers_come_by_their_size(corpus: Corpus, duckdb: Any) -> None:
    names = [stratum.name for stratum in draw(duckdb, corpus, deal_of("proportional", 50), by="answers").strata]
    numbers = [int(name) for name in names if name != "unknown"]
    assert numbers == sorted(numbers)
    assert len(numbers) > 2
