import json
import os
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
import small_dump

from sleuth.study.corpus import NotACorpus, open_corpus
from sleuth.study.ingest import rows, run, sources
from sleuth.study.ingest.choice import Choice

# A part every few rows, and a pause after each, so that there is time to kill it anywhere.
CHILD = """
import sys, time
from pathlib import Path
from sleuth.study.ingest import dump, rows, run, sources
from sleuth.study.ingest.choice import Choice
dump._CHUNK = dump._SIFTED_CHUNK = 20_000
rows._ROWS = 40
found, _ = sources.find(Path(sys.argv[1]), "so", {})
run.ingest(found, Path(sys.argv[2]), Choice(tags=tuple(sys.argv[3:])), part_bytes=8_000,
           tell=lambda done, total: time.sleep(0.01))
"""
BROKEN = b'  <row Id="5" Body="a & b" />\n'


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    written = small_dump.rows(1200, seed=4)
    data = small_dump.whole([*written[:700], BROKEN, *written[700:], BROKEN])
    (folder / "Posts.xml").write_bytes(data)
    with open(folder / "posts.jsonl", "w") as file:
        for number in range(1500):
            file.write(json.dumps({"key": f"so:{number}", "title": "x" * 50, "body": "<p>y</p>" * 30}) + "\n")
            if number % 500 == 0:
                file.write("{broken\n")
    return folder


def posts_of(folder):
    return [row for part in open_corpus(folder).parts for row in pq.read_table(part).to_pylist()]


def aside_of(folder):
    return [json.loads(line) for line in (folder / "set-aside.jsonl").read_text().splitlines()]


def confirmed(folder):
    try:
        return len(json.loads((folder / "corpus.json").read_text())["parts"])
    except FileNotFoundError:
        return 0


def run_until(words, folder, parts):
    """Killed, without any warning, as soon as that many parts are confirmed; whether it was still running."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, *words], env={**os.environ, "OMP_NUM_THREADS": "1"})
    while child.poll() is None and (parts is None or confirmed(folder) < parts):
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    return child.wait() == -signal.SIGKILL


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize(("name", "tags"), [("Posts.xml", []), ("Posts.xml", ["keras"]), ("posts.jsonl", [])])
def test_a_killed_ingest_goes_on_and_gives_the_very_same_rows(sites, tmp_path, name, tags):
    source, into = sites / name, tmp_path / "corpus"
    words = [str(source), str(into), *tags]
    kills = 0
    for parts in (1, 3, 4):
        kills += run_until(words, into, parts)
        kept = confirmed(into)
        assert kept >= parts
        with pytest.raises(NotACorpus, match="not finished"):
            open_corpus(into)
    assert kills == 3
    assert not run_until(words, into, None)
    assert confirmed(into) > kept
    whole = tmp_path / "whole"
    run.ingest(sources.find(source, "so", {})[0], whole, Choice(tags=tuple(tags)))
    assert posts_of(into) == posts_of(whole)
    assert aside_of(into) == aside_of(whole)
    counts = [
        {name: found[name] for name in ("posts", "set_aside", "left_out", "finished")}
        for found in manifests(into, whole)
    ]
    assert counts[0] == counts[1]


def manifests(*folders):
    return [json.loads((folder / "corpus.json").read_text()) for folder in folders]


class Stopped(Exception):
    pass


def stop_after(count):
    calls = []

    def tell(done, total):
        calls.append(done)
        if len(calls) == count:
            raise Stopped

    return tell


def test_what_a_kill_left_unconfirmed_is_removed(sites, tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "_ROWS", 100)
    found, _ = sources.find(sites / "posts.jsonl", None, {})
    into = tmp_path / "corpus"
    with pytest.raises(Stopped):
        run.ingest(found, into, part_bytes=1000, tell=stop_after(2))
    # As if it had been killed after a part was put in place, but before the manifest named it.
    part = sorted((into / "posts").glob("part-*"))[-1]
    (into / "posts" / "part-00077.parquet").write_bytes(part.read_bytes())
    (into / "posts" / ".part.draft").write_bytes(b"half")
    with open(into / "set-aside.jsonl", "a") as file:
        file.write('{"half')
    run.ingest(found, into)
    assert [post["id"] for post in posts_of(into)] == list(range(1500))
    assert len(aside_of(into)) == 3
    assert {file.name[:5] for file in (into / "posts").iterdir()} == {"part-"}


def test_two_runs_into_one_folder_are_refused(sites, tmp_path):
    found, _ = sources.find(sites / "posts.jsonl", None, {})

    def again(done, total):
        run.ingest(found, tmp_path / "corpus")

    with pytest.raises(sources.CannotIngest, match="another ingest is writing"):
        run.ingest(found, tmp_path / "corpus", tell=again)


def test_a_source_that_has_changed_is_not_gone_on_with(tmp_path):
    source = tmp_path / "posts.jsonl"
    source.write_text('{"key": "so:1", "title": "a"}\n')
    run.ingest(sources.find(source, None, {})[0], tmp_path / "corpus")
    source.write_text('{"key": "so:2", "title": "a"}\n')
    with pytest.raises(sources.CannotIngest, match="has changed since"):
        run.ingest(sources.find(source, None, {})[0], tmp_path / "corpus")
