"""A million posts: every preset and every analysis on DuckDB, and the same numbers from a Spark cluster.

The posts are synthetic, with all columns and bodies that are all different. The cluster is a master and a worker of one
core on this machine: it is here for its answers, not for its speed."""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "study"))

import pyarrow.parquet as pq
import synthetic  # type: ignore[import-not-found]
from shared_expressions import analysis_answers, differ, preset_answers  # type: ignore[import-not-found]
from spark_cluster import master_and_worker  # type: ignore[import-not-found]

from sleuth.study import engine
from sleuth.study.corpus import Corpus

RESULT = Path(__file__).parent / "results" / "study_engines.json"
LIMIT_SECONDS = 30.0


def answers(connection: Any, corpus: Corpus, labelled: list[Any]) -> Iterator[tuple[str, Any]]:
    """All presets, and all analyses, those of any labels by the kinds."""
    yield from preset_answers(engine.posts(connection, corpus), whole=False)
    yield from analysis_answers(connection, corpus, labelled)


def timed(connection: Any, corpus: Corpus, labelled: list[Any]) -> tuple[dict[str, Any], dict[str, float], float]:
    """The answers, how long each took, and the processor time of this process for all."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    answered, seconds, started = {}, {}, time.perf_counter()
    for name, answer in answers(connection, corpus, labelled):
        answered[name] = answer
        seconds[name] = time.perf_counter() - started
        started = time.perf_counter()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return answered, seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def labels(corpus: Corpus, posts: int, wanted: int) -> list[Any]:
    keys = [key for part in corpus.parts for key in pq.read_table(part, columns=["key"])["key"].to_pylist()]
    labelled: list[Any] = synthetic.labels(keys, share=wanted / posts)
    return labelled


def measure(posts: int, labelled_posts: int, with_spark: bool, folder: Path) -> dict[str, Any]:
    corpus = synthetic.write(folder / "corpus", posts)
    labelled = labels(corpus, posts, labelled_posts)
    busy = os.getloadavg()[0]
    on_duckdb, seconds, processor = timed(engine.connect(), corpus, labelled)
    result = {
        "posts": posts,
        "parquet_mb": round(sum(os.path.getsize(part) for part in corpus.parts) / 1e6),
        "unpacked_mb": round(sum(_unpacked(part) for part in corpus.parts) / 1e6),
        "labels": len(labelled),
        "load_average_before": round(busy, 1),
        "duckdb": _figures(seconds, processor),
        "within_limit": sum(seconds.values()) < LIMIT_SECONDS,
    }
    if with_spark:
        (folder / "cluster").mkdir()
        with master_and_worker(folder / "cluster", memory="2g") as master:
            on_spark, seconds, _ = timed(engine.connect(master), corpus, labelled)
        result["spark"] = _figures(seconds, None)
        unlike = [name for name in on_duckdb if differ(on_duckdb[name], on_spark.get(name))]
        result["answers_compared"], result["answers_unlike"] = len(on_duckdb), unlike
    return result


def _unpacked(part: str) -> int:
    metadata = pq.read_metadata(part)
    return sum(int(metadata.row_group(number).total_byte_size) for number in range(metadata.num_row_groups))


def _figures(seconds: dict[str, float], processor: float | None) -> dict[str, Any]:
    presets = sum(took for name, took in seconds.items() if not name.startswith("analysis "))
    slowest = sorted(seconds, key=lambda name: -seconds[name])[:5]
    return {
        "seconds": round(sum(seconds.values()), 1),
        **({"processor_seconds": round(processor, 1)} if processor is not None else {}),
        "presets_seconds": round(presets, 1),
        "analyses_seconds": round(sum(seconds.values()) - presets, 1),
        "slowest": {name: round(seconds[name], 2) for name in slowest},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=1_000_000)
    parser.add_argument("--labelled", type=int, default=10_000, help="how many posts have labels")
    parser.add_argument("--without-spark", action="store_true")
    parser.add_argument("--output", type=Path, default=RESULT)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        result = measure(args.posts, args.labelled, not args.without_spark, Path(folder))
    result["machine"] = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("duckdb", "ibis-framework", "pyspark")},
    }
    args.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=1))
    return 0 if result["within_limit"] and not result.get("answers_unlike") else 1


if __name__ == "__main__":
    sys.exit(main())
