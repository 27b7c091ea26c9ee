"""The funnel counts what the filters keep, step by step, and what is written is what was counted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import synthetic

from sleuth.study import corpus, engine, select
from sleuth.study.select import writing
from sleuth.study.select.preset import parse
from sleuth.study.select.writing import CannotWrite, write

DAY_MS = 86_400_000


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> corpus.Corpus:
    return synthetic.write(tmp_path_factory.mktemp("selection") / "all", 3_000, part=1_000)


@pytest.fixture(scope="module")
def rows(source: corpus.Corpus) -> list[dict[str, Any]]:
    return pa.concat_tables(pq.read_table(part) for part in source.parts).to_pylist()


def test_the_funnel_is_what_a_loop_over_the_posts_counts(source: corpus.Corpus, rows: list[dict[str, Any]]) -> None:
    selection = select.select(engine.posts(engine.connect(), source), select.load("implementation"))
    left = [
        row
        for row in rows
        if row["kind_of_post"] == "question"
        and any(name in tag for tag in row["tags"] or [] for name in ("tensorflow", "pytorch", "theano", "Theano"))
        and (row["created_ms"] or 10**15) < 18_872 * DAY_MS  # 2021-09-02
    ]
    how_to = [row for row in left if re.search(r"\bhow\sto\b", row["title"], re.IGNORECASE)]
    accepted = [row for row in how_to if row["accepted_answer"] is not None]
    counts = [step.posts for step in selection.funnel]
    assert counts == [3_000, len(left), len(how_to), len(accepted), None, None]
    assert selection.posts == len(accepted) > 10
    assert sorted(selection.table.key.to_pyarrow().to_pylist()) == sorted(row["key"] for row in accepted)


def test_an_accepted_answer_that_stays_behind_leaves_its_time(
    source: corpus.Corpus, rows: list[dict[str, Any]]
) -> None:
    written = {row["id"]: row["created_ms"] for row in rows if row["kind_of_post"] == "answer"}
    selection = select.select(engine.posts(engine.connect(), source), select.load("implementation"))
    chosen = selection.table.to_pyarrow().to_pylist()
    before = {row["key"]: row["accepted_ms"] for row in rows}
    filled = [row for row in chosen if before[row["key"]] is None]
    assert filled
    assert all(row["accepted_ms"] == written[row["accepted_answer"]] for row in filled)
    assert all(row["accepted_ms"] == before[row["key"]] for row in chosen if before[row["key"]] is not None)


def test_an_answer_that_is_there_twice_does_not_double_its_question() -> None:
    question = {"key": "so:1", "id": 1, "site": "s", "kind_of_post": "question", "accepted_answer": 2}
    answer = {"key": "so:2", "id": 2, "site": "s", "kind_of_post": "answer", "created_ms": 9}
    elsewhere = {**answer, "site": "t", "created_ms": 5}
    table = pa.Table.from_pylist([question, answer, answer, elsewhere], schema=corpus.COLUMNS)
    posts = engine.small_table(engine.connect(), table)
    chosen = select.select(posts, parse("[[step]]\nkind = 'question'", "x", "x")).table.to_pyarrow().to_pylist()
    assert [(row["key"], row["accepted_ms"]) for row in chosen] == [("so:1", 9)]


def test_the_funnel_tells_kinds_apart_beside_the_printed_ones(source: corpus.Corpus) -> None:
    selection = select.select(engine.posts(engine.connect(), source), select.load("bugs"))
    data = [step.as_data() for step in selection.funnel]
    assert data[2]["posts"] == sum(data[2]["kinds"].values())
    assert set(data[2]["kinds"]) == {"question", "commit"}
    assert (data[2]["published"], data[2]["published_kinds"]) == (3_216, {"question": 2_716, "commit": 500})
    assert data[3] == {
        "step": "bugs found in them, by hand",
        "posts": None,
        "published": 970,
        "published_kinds": {"question": 415, "commit": 555},
    }


def test_an_empty_corpus_has_a_funnel_of_noughts(tmp_path: Path) -> None:
    corpus.write_manifest(tmp_path, {})
    selection = select.select(engine.posts(engine.connect(), corpus.open_corpus(tmp_path)), select.load("bugs"))
    assert [step.posts for step in selection.funnel] == [0, 0, 0, None]
    assert selection.posts == 0


def test_a_selection_is_written_as_a_corpus_of_which_one_can_select_again(
    source: corpus.Corpus, tmp_path: Path
) -> None:
    connection, preset = engine.connect(), select.load("challenges")
    selection = select.select(engine.posts(connection, source), preset)
    written = write(connection, selection, preset, source, tmp_path / "out", force=False)
    assert written.manifest["posts"] == selection.posts
    assert written.manifest["funnel"] == [step.as_data() for step in selection.funnel]
    assert written.manifest["preset"]["text"] == preset.text
    assert written.manifest["steps"][0]["filters"]["created"] == {"until": "2018-12-31"}
    assert written.manifest["from"] == str(source.folder)
    again = select.select(engine.posts(connection, written), preset)
    assert [step.posts for step in again.funnel][:2] == [selection.posts, selection.posts]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_only_a_corpus_is_ever_replaced_and_only_by_force(source: corpus.Corpus, tmp_path: Path) -> None:
    connection, preset = engine.connect(), select.load("challenges")
    selection = select.select(engine.posts(connection, source), preset)
    mine = tmp_path / "mine"
    mine.mkdir()
    write(connection, selection, preset, source, mine, force=False)
    with pytest.raises(CannotWrite, match="mine is there already; --force replaces it"):
        write(connection, selection, preset, source, mine, force=False)
    assert write(connection, selection, preset, source, mine, force=True).manifest["posts"] == selection.posts
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.txt").write_text("years of work")
    with pytest.raises(CannotWrite, match="thesis is there already, and is not a corpus"):
        write(connection, selection, preset, source, thesis, force=True)
    with pytest.raises(CannotWrite, match="is the corpus to select from"):
        write(connection, selection, preset, source, source.folder, force=True)
    assert (thesis / "chapter.txt").read_text() == "years of work"


def test_a_corpus_that_arrives_in_part_is_refused(
    source: corpus.Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As from a cluster whose workers each write to a disk of their own.
    monkeypatch.setattr(writing, "_write_parts", lambda connection, table, folder: folder.mkdir())
    connection, preset = engine.connect(), select.load("challenges")
    selection = select.select(engine.posts(connection, source), preset)
    with pytest.raises(CannotWrite, match=r"posts were selected and 0 arrived; do all workers of the cluster write to"):
        write(connection, selection, preset, source, tmp_path / "out", force=False)
    assert not list(tmp_path.iterdir())


def test_what_fails_half_way_leaves_the_old_corpus_and_no_draft(
    source: corpus.Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection, preset = engine.connect(), select.load("challenges")
    selection = select.select(engine.posts(connection, source), preset)
    old = write(connection, selection, preset, source, tmp_path / "out", force=False)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "write_manifest", full)
    with pytest.raises(CannotWrite, match=r"cannot write to .*out: No space left on device"):
        write(connection, selection, preset, source, tmp_path / "out", force=True)
    assert corpus.open_corpus(tmp_path / "out").manifest == old.manifest
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
