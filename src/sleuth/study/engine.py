"""The machine that computes: DuckDB in this process, or a Spark cluster; both take the same Ibis expressions."""

from __future__ import annotations

import glob
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sleuth.study.corpus import COLUMNS, Corpus

EMBEDDED = "duckdb"
# Spark in this process: `local`, `local[2]`, `local[*]`, and a cluster of processes, `local-cluster[2,1,1024]`.
_SPARK = ("spark://", "local")


class NoEngine(Exception):
    """`str()` of it is the one line to show."""


class EngineFailed(NoEngine):
    """It was there, and could not do it: a file that it cannot read, a cluster that lost its workers."""


def connect(engine: str = EMBEDDED) -> Any:
    """An Ibis backend: `duckdb`, or `spark://host:port` (and `local[2]`, Spark in this process). Raises NoEngine."""
    if engine == EMBEDDED:
        return _duckdb()
    if engine.startswith(_SPARK):
        from sleuth.study import spark

        return spark.connect(engine)
    raise NoEngine(f"there is no engine {engine!r}; use duckdb or spark://host:port")


def is_spark(connection: Any) -> bool:
    """Whether this connection computes on Spark."""
    return bool(connection.name == "pyspark")


def posts(connection: Any, corpus: Corpus) -> Any:
    """The posts of a corpus as an Ibis table."""
    return read(connection, corpus.parts) if corpus.parts else small_table(connection, COLUMNS.empty_table())


def read(connection: Any, parts: list[str]) -> Any:
    """Parquet files of one schema as an Ibis table. Spark's workers must see them by the same path."""
    paths = [os.path.abspath(part) for part in parts]
    if is_spark(connection):
        from sleuth.study import spark

        return spark.read(connection, paths)
    # A folder may be called `posts [2024]`, and DuckDB takes a path for a pattern.
    return connection.read_parquet([glob.escape(path) for path in paths])


def small_table(connection: Any, rows: Any) -> Any:
    """A pyarrow table that is in memory (labels, say) as an Ibis table. `ibis.memtable` spoils integers on Spark."""
    if is_spark(connection):
        from sleuth.study import spark

        return spark.small_table(connection, rows)
    import ibis

    # Wrapped: given the rows themselves, Ibis 12 asks DuckDB 2 to drop a view without a name.
    return connection.create_table(ibis.util.gen_name("small"), ibis.memtable(rows), temp=True)


@contextmanager
def in_one_line(connection: Any) -> Iterator[None]:
    """What the engine throws becomes EngineFailed, whose line is the cause and not the stack of a virtual machine."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0].lstrip("_") not in ("duckdb", "pyspark", "py4j"):
            raise
        name = "Spark" if is_spark(connection) else "DuckDB"
        raise EngineFailed(f"{name} could not do it: {_cause(str(error))}") from error


def _cause(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    deepest = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    return (deepest or lines or ["it did not say why"])[-1 if deepest else 0]


def progress(connection: Any) -> tuple[int, int] | None:
    """How much of the present query is done, and of how much; None while nobody knows. Ask from another thread."""
    if is_spark(connection):
        from sleuth.study import spark

        return spark.progress(connection)
    percent = int(connection.con.query_progress())
    return (percent, 100) if percent >= 0 else None


def _duckdb() -> Any:
    import ibis

    # What does not fit into memory would otherwise be spilt into a folder where the user happens to stand.
    spill = os.path.join(tempfile.gettempdir(), f"sleuth-duckdb-{os.getpid()}")
    connection = ibis.duckdb.connect(temp_directory=spill)
    # Counted for `progress`, never printed.
    for setting in ("enable_progress_bar = true", "enable_progress_bar_print = false", "progress_bar_time = 0"):
        connection.con.execute(f"SET {setting}")
    return connection
