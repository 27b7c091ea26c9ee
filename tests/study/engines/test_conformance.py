"""DuckDB and a true Spark cluster give the same answers to everything that Sleuth asks of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic
from shared_expressions import differ, every_answer, families
from spark_cluster import master_and_worker, small_defaults

from sleuth.cli import main
from sleuth.study import analyses, corpus, engine, select


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cluster")
    with pytest.MonkeyPatch.context() as patch, master_and_worker(folder) as master:
        patch.setenv("SPARK_CONF_DIR", small_defaults(folder))
        yield master
        # Its driver lives in this process, and would call for its workers when they are gone.
        engine.connect(master).disconnect()


@pytest.fixture(scope="session")
def posts(tmp_path_factory: pytest.TempPathFactory) -> corpus.Corpus:
    # Both engines take such a name for a pattern, unless told otherwise.
    written = synthetic.write(tmp_path_factory.mktemp("corpora") / "posts [2024] {a,b}*", 3_000)
    pq.write_table(synthetic.awkward_posts(1_000), written.folder / corpus.POSTS / "part-00001.parquet")
    return written


def test_every_shared_expression_gives_the_same_on_both_engines(cluster: str, posts: corpus.Corpus) -> None:
    keys = [key for part in posts.parts for key in pq.read_table(part, columns=["key"])["key"].to_pylist()]
    labelled = synthetic.labels(keys)
    on_spark = dict(every_answer(engine.connect(cluster), posts, labelled))
    on_duckdb = dict(every_answer(engine.connect(), posts, labelled))

    assert [name for name in on_duckdb if differ(on_duckdb[name], on_spark.get(name))] == []
    assert on_spark.keys() == on_duckdb.keys()
    asked = [name.split(":")[0].removeprefix("analysis ") for name in on_duckdb if name.startswith("analysis ")]
    assert set(asked) == set(analyses.analysis_names())
    assert {f"posts of {name}" for name in select.names()} < on_duckdb.keys()
    assert all(family.EXAMPLES for family in families())


def test_the_command_writes_the_same_corpus_from_both_engines_and_no_word_of_java(
    cluster: str, posts: corpus.Corpus, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    corpora = {}
    for name in ("duckdb", cluster):
        into = tmp_path / name.split(":")[0]
        options = ["--preset", "numerical", "--engine", name, "--into", str(into), "--format", "json"]
        assert main(["study", "select", str(posts.folder), *options]) == 0
        printed = capfd.readouterr()
        assert printed.err == ""
        written = corpus.open_corpus(into)
        assert json.loads(printed.out)["funnel"] == written.manifest["funnel"]
        table = pa.concat_tables([pq.read_table(part) for part in written.parts], promote_options="permissive")
        corpora[into.name] = (written.manifest["funnel"], table.sort_by("key").to_pylist())

    on_duckdb, on_spark = corpora["duckdb"], corpora["spark"]
    assert not differ(on_duckdb, on_spark)
    assert len(on_duckdb[1]) == on_duckdb[0][-2]["posts"] > 100
