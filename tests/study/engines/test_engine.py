"""An engine that is not there says so in one line; one that is there reads a corpus whatever its folder is called."""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
import synthetic
from spark_cluster import master_alone, small_defaults

from sleuth.study import corpus, engine, spark


def test_an_unknown_engine_is_refused_with_those_that_exist() -> None:
    with pytest.raises(engine.NoEngine, match=r"no engine 'postgres'; use duckdb or spark://host:port"):
        engine.connect("postgres")


@pytest.mark.parametrize("name", ["we [2024]", "a*b?", "{x,y}", "sp ace", "100%20", "naïve"])
def test_duckdb_reads_a_corpus_whatever_its_folder_is_called(name: str, tmp_path: Path) -> None:
    written = synthetic.write(tmp_path / name, 30, part=20)
    assert engine.posts(engine.connect(), written).count().to_pyarrow().as_py() == 30


def test_a_corpus_without_parts_has_no_posts_and_all_columns(tmp_path: Path) -> None:
    corpus.write_manifest(tmp_path, {})
    table = engine.posts(engine.connect(), corpus.open_corpus(tmp_path))
    assert table.count().to_pyarrow().as_py() == 0
    assert list(table.columns) == corpus.COLUMNS.names


def test_a_small_table_keeps_its_integers_and_nulls() -> None:
    rows = pa.table({"n": [2**60 + 1, None], "words": [["a"], None]})
    assert engine.small_table(engine.connect(), rows).to_pyarrow().to_pylist() == rows.to_pylist()


def test_what_does_not_fit_into_memory_is_not_spilt_where_the_user_stands() -> None:
    connection = engine.connect()
    ((spill,),) = connection.con.execute("select current_setting('temp_directory')").fetchall()
    assert os.path.isabs(spill)
    assert not spill.startswith(os.getcwd())


def test_what_duckdb_cannot_read_is_told_in_one_line(tmp_path: Path) -> None:
    written = synthetic.write(tmp_path / "torn", 30)
    Path(written.parts[0]).write_bytes(Path(written.parts[0]).read_bytes()[:500])
    connection = engine.connect()
    with pytest.raises(engine.EngineFailed) as failed, engine.in_one_line(connection):
        engine.posts(connection, written).count().to_pyarrow()
    assert str(failed.value).startswith("DuckDB could not do it: ")
    assert "part-00000.parquet" in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_mistake_of_our_own_is_not_blamed_on_the_engine() -> None:
    with pytest.raises(ZeroDivisionError), engine.in_one_line(engine.connect()):
        _ = 1 / 0


def test_duckdb_tells_how_far_it_has_come(tmp_path: Path) -> None:
    connection = engine.connect()
    seen, over = [], threading.Event()

    def look() -> None:
        while not over.wait(0.005):
            seen.append(engine.progress(connection))

    watcher = threading.Thread(target=look)
    watcher.start()
    connection.con.execute("select count(*) from range(100000000) t(i) where hash(i) % 7 = 1").fetchall()
    over.set()
    watcher.join()
    known = [done for one in seen if one is not None for done, whole in [one] if whole == 100]
    assert known
    assert known == sorted(known)


def test_spark_without_pyspark_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "find_spec", lambda name: None)
    with pytest.raises(engine.NoEngine, match=r"^Spark needs pip install 'sleuth-ml\[spark\]'$"):
        engine.connect("local[1]")


def test_spark_without_java_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(engine.NoEngine, match="Spark needs Java 17 or newer, and there is no `java` on the PATH"):
        engine.connect("local[1]")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(engine.NoEngine, match="there is none in JAVA_HOME"):
        engine.connect("local[1]")


def test_a_master_that_does_not_answer_is_named_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(
            engine.NoEngine, match=rf"^no Spark master answers at 127\.0\.0\.1:{port}: Connection refused$"
        ):
            engine.connect(f"spark://127.0.0.1:{port}")


@pytest.mark.parametrize("address", ["spark://", "spark://host", "spark://:7077", "spark://host:seven"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(engine.NoEngine, match="is no address of a Spark master; it looks like spark://host:7077"):
        engine.connect(address)


def test_only_a_master_on_loopback_makes_the_driver_stay_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_LOCAL_IP", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    assert "spark.driver.host" not in spark._environment_and_settings(on_loopback=False)
    assert "SPARK_LOCAL_IP" not in os.environ
    assert spark._environment_and_settings(on_loopback=True)["spark.driver.host"] == "127.0.0.1"
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert os.environ["PYSPARK_PYTHON"] == sys.executable


def test_a_master_without_a_worker_is_refused_and_nothing_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(spark, "_EXECUTOR_COMES_WITHIN_SECONDS", 0.5)
    monkeypatch.setenv("SPARK_CONF_DIR", small_defaults(tmp_path))
    refused = pytest.raises(engine.NoEngine, match="has no worker with a free core and memory to spare")
    with master_alone(tmp_path) as master, refused:
        engine.connect(master)
    assert capfd.readouterr() == ("", "")
