"""How fast `sleuth study ingest` reads a dump, beside lxml and a bare count of newlines: MB a second of CPU time.

All read the same synthetic dump (`study_dump.py`), each in a process of its own, in rounds that are interleaved and
shuffled, so that whatever else the machine does falls on all alike; the slow ones read a quarter of it. "Rows" are
those of a corpus, ready for Parquet: typed, tags as lists, times in milliseconds, bodies as text and blocks of code
apart; lxml's are made from its attributes by the same functions that make ours where a row is unusual. Peak memory is
that of the process, for a quarter of the dump and for all of it. `--equal` compares every row with lxml's."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import study_dump

HERE = Path(__file__).parent
RESULT = HERE / "results" / "study_ingest.json"
SITE = "stackoverflow"
ASKED = ("tensorflow", "pytorch")
TEN = "Id PostTypeId AcceptedAnswerId ParentId CreationDate Score ViewCount Body Title Tags".split()
SELECT_IN_ONE_GO = "sleuth: ingest and select in one command (preset implementation), on disk"
ROWS, LXML_ROWS = "sleuth: rows", "lxml: rows"
BY_TAG, LXML_BY_TAG = "sleuth: rows of two tags and their answers", "lxml: rows of two tags and their answers"
LXML_BARE = "lxml: ten attributes, read and dropped"
LXML_COLUMNS = "lxml: ten columns of strings in Arrow, bodies as HTML"
SLOW = (LXML_ROWS, LXML_BY_TAG, LXML_COLUMNS)


def count_newlines(path: Path) -> int:
    found = 0
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(1 << 20):
            found += piece.count(b"\n")
    return found


def elements(path: Path) -> Iterator[Any]:
    from lxml import etree

    for _, element in etree.iterparse(str(path), tag="row"):
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def bare_lxml(path: Path) -> int:
    found = 0
    for element in elements(path):
        for name in TEN:
            element.get(name)
        found += 1
    return found


def columns_by_lxml(path: Path) -> int:
    """Ten columns of strings in Arrow, nothing typed, bodies left as HTML."""
    import pyarrow as pa

    found = 0
    rows = (tuple(map(element.get, TEN)) for element in elements(path))
    while some := list(islice(rows, 2000)):
        found += len(pa.table(list(map(list, zip(*some, strict=True))), names=TEN))
    return found


def posts_by_lxml(path: Path) -> Iterator[dict[str, Any]]:
    from sleuth.study.ingest import dump_row

    for element in elements(path):
        yield dump_row.post_of(dict(element.attrib), SITE)


def rows_by_lxml(path: Path) -> int:
    return _tables(posts_by_lxml(path))


def tagged_by_lxml(path: Path) -> int:
    from sleuth.study.ingest import dump_row
    from sleuth.study.ingest.values import tags_of

    kept: set[str] = set()

    def chosen() -> Iterator[dict[str, Any]]:
        for element in elements(path):
            tags = element.get("Tags")
            if tags is not None and not set(ASKED).isdisjoint(tags_of(tags)):
                kept.add(element.get("Id"))
            elif element.get("ParentId") not in kept:
                continue
            yield dump_row.post_of(dict(element.attrib), SITE)

    return _tables(chosen())


def _tables(posts: Iterator[dict[str, Any]]) -> int:
    import pyarrow as pa

    from sleuth.study.corpus import COLUMNS

    found = 0
    while some := list(islice(posts, 2000)):
        found += len(pa.Table.from_pylist(some, COLUMNS))
    return found


def _tables_of_ours(path: Path, tags: tuple[str, ...] = ()) -> Iterator[Any]:
    from sleuth.study.ingest import dump, streams
    from sleuth.study.ingest.choice import Choice, Chooser

    chooser = Chooser(Choice(tags=tags))
    stream = streams.open_at(path, "", None, 0)
    for batch in dump.read(stream, 0, SITE, chooser):
        assert not batch.aside
        yield chooser.chosen(batch.posts)
    stream.close()


def our_rows(path: Path) -> int:
    return sum(map(len, _tables_of_ours(path)))


def our_tagged(path: Path) -> int:
    return sum(map(len, _tables_of_ours(path, ASKED)))


def our_corpus(path: Path) -> int:
    from sleuth.study.ingest import run, sources

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        return int(run.ingest(sources.find(path, SITE, {})[0], Path(folder) / "corpus")["posts"])


def in_one_go(path: Path) -> int:
    from sleuth.cli import main

    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        words = [str(path), "--site", SITE, "--preset", "implementation", "--into", f"{folder}/howto"]
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        assert main(["study", "ingest", *words]) == 0
        return int(json.loads(Path(folder, "howto", "corpus.json").read_text())["posts"])


TASKS: dict[str, Callable[[Path], int]] = {
    "count of newlines": count_newlines,
    LXML_BARE: bare_lxml,
    LXML_COLUMNS: columns_by_lxml,
    LXML_ROWS: rows_by_lxml,
    LXML_BY_TAG: tagged_by_lxml,
    ROWS: our_rows,
    BY_TAG: our_tagged,
    "sleuth: ingest, a corpus on disk": our_corpus,
    SELECT_IN_ONE_GO: in_one_go,
}


def measured(name: str, path: Path) -> dict[str, Any]:
    """One task in a process of its own: what it found, CPU seconds, peak memory."""
    words = [sys.executable, str(Path(__file__).absolute()), "--task", name, "--dump", str(path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return dict(json.loads(done.stdout.splitlines()[-1]))


def perform(name: str, path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    shown = sys.stdout
    found = TASKS[name](path)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"found": found, "seconds": used, "wall": wall, "peak": after.ru_maxrss * 1024}), file=shown)


def compare(path: Path) -> dict[str, int]:
    """Every row, as lxml has it and as we have it."""
    theirs, rows, different = posts_by_lxml(path), 0, 0
    for table in _tables_of_ours(path):
        for ours in table.to_pylist():
            rows += 1
            different += ours != next(theirs, None)
    return {"rows": rows, "different": different, "left over": sum(1 for _ in theirs)}


def prepared(folder: Path, megabytes: float, seed: int) -> Path:
    path = folder / f"Posts-{megabytes:g}-{seed}.xml"
    if not path.exists():
        with open(path.with_suffix(".draft"), "wb") as file:
            study_dump.write(file, int(megabytes * 1e6), seed)
        path.with_suffix(".draft").rename(path)
    return path


def table(path: Path, quarter: Path, rounds: int) -> dict[str, Any]:
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in TASKS}
    order = random.Random(0)
    for _ in range(rounds):
        for name in order.sample(list(TASKS), len(TASKS)):
            read = quarter if name in SLOW else path
            run = measured(name, read)
            run["speed"] = round(read.stat().st_size / 1e6 / run["seconds"], 1)
            runs[name].append(run)
            print(f"{name}: {run['speed']} MB a CPU second", file=sys.stderr)
    return {
        name: {
            "MB a CPU second": statistics.median(run["speed"] for run in found),
            "of each round": [run["speed"] for run in found],
            "rows": found[0]["found"],
        }
        for name, found in runs.items()
    }


def memory(folder: Path, megabytes: float, seed: int) -> dict[str, Any]:
    """Peak MB of the process, reading a quarter and the whole."""
    sizes = [prepared(folder, megabytes / 4, seed), prepared(folder, megabytes, seed)]
    tasks = ("sleuth: ingest, a corpus on disk", BY_TAG)
    return {
        task: {f"{path.stat().st_size / 1e6:.0f} MB": round(measured(task, path)["peak"] / 1e6) for path in sizes}
        for task in tasks
    }


def ratios(found: dict[str, Any]) -> dict[str, float]:
    def times(ours: str, theirs: str) -> float:
        pairs = zip(found[ours]["of each round"], found[theirs]["of each round"], strict=True)
        return float(round(statistics.median(a / b for a, b in pairs), 2))

    return {
        "rows, times lxml's": times(ROWS, LXML_ROWS),
        "rows of two tags, times lxml's": times(BY_TAG, LXML_BY_TAG),
        "rows of two tags, times lxml's reading of ten attributes": times(BY_TAG, LXML_BARE),
        "rows, times lxml's reading of ten attributes": times(ROWS, LXML_BARE),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the dumps go and stay (default: a temporary one)")
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--equal", action="store_true", help="also compare every row with lxml's: minutes")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--dump", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        perform(options.task, options.dump)
        return
    folder = options.folder or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        path = prepared(folder, options.megabytes, options.seed)
        found = table(path, prepared(folder, options.megabytes / 4, options.seed), options.rounds)
        result = {
            "what": " ".join((__doc__ or "").split()),
            "machine": {"cpu": platform.machine(), "cores": os.cpu_count(), "threads": 1},
            "versions": {name: importlib.metadata.version(name) for name in ("lxml", "numpy", "pyarrow")},
            "dump": {"MB": round(path.stat().st_size / 1e6), "seed": options.seed, "rounds": options.rounds},
            "speed": found,
            "ratios": ratios(found),
            "peak MB": memory(folder, options.megabytes, options.seed),
            **({"equal to lxml": compare(path)} if options.equal else {}),
        }
    finally:
        if options.folder is None:
            shutil.rmtree(folder)
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    print(json.dumps({name: result[name] for name in ("ratios", "peak MB")}, indent=2))


if __name__ == "__main__":
    main()
