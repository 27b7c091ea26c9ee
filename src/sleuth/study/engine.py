"""The machine that computes: DuckDB in this process, or a Spark cluster; both take the same Ibis expressions."""

from __future__ import annotations

from typing import Any

from sleuth.study.corpus import Corpus

EMBEDDED = "duckdb"


class NoEngine(Exception):
    """`str()` of it is the one line to show."""


def connect(engine: str = EMBEDDED) -> Any:
    """An Ibis backend: `duckdb`, or `spark://host:port` (and `local[2]`, Spark in this process)."""
    if engine == EMBEDDED:
        import ibis

        return ibis.duckdb.connect()
    if engine.startswith(("spark://", "local")):
        from sleuth.study import spark

        return spark.connect(engine)
    raise NoEngine(f"there is no engine {engine!r}; use duckdb or spark://host:port")


def posts(connection: Any, corpus: Corpus) -> Any:
    """The posts of a corpus as an Ibis table."""
    return connection.read_parquet(corpus.parts)
