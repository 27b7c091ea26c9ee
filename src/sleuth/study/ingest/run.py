"""Takes sources in, one after the other, part by part; a run that was killed is gone on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sleuth.study.corpus import POSTS
from sleuth.study.ingest import columns, folder, jsons, shapes, tables
from sleuth.study.ingest.choice import Choice, Chooser
from sleuth.study.ingest.rows import Aside, Batch, gathered
from sleuth.study.ingest.seen import Seen
from sleuth.study.ingest.sources import CannotIngest, Source
from sleuth.study.ingest.streams import Damaged, Stream, open_at

# A part is confirmed when it holds this much, or when the source was read so many times further without filling it.
PART_BYTES = 96 << 20
_WITHOUT_FILLING = 8
_TO_BE_THE_SAME = ("path", "print", "site", "columns", "encoding")

Told = Callable[[int, int], None]


def ingest(
    sources: list[Source],
    into: Path,
    choice: Choice | None = None,
    *,
    part_bytes: int = PART_BYTES,
    tell: Told = lambda done, total: None,
) -> dict[str, Any]:
    """Write the corpus, or go on writing it; its manifest. `tell` hears how many bytes are done, of how many."""
    choice = choice or Choice()
    manifest = _manifest(sources, into, choice)
    if manifest["finished"]:
        return manifest
    corpus = folder.Folder(into, manifest)
    total, done = sum(source.size for source in sources), 0
    seen = _seen(sources, corpus)
    try:
        for source, state in zip(sources, manifest["sources"], strict=True):
            if not state["finished"]:
                known = seen if _may_come_twice(source, sources) else None
                _take_in(
                    source, state, corpus, Chooser(choice), known, part_bytes, partial(_further, tell, done, total)
                )
            done += source.size
        manifest["finished"] = True
        corpus.confirm()
    finally:
        corpus.close()
    return manifest


def _further(tell: Told, before: int, total: int, done: int) -> None:
    tell(before + done, total)


def _manifest(sources: list[Source], into: Path, choice: Choice) -> dict[str, Any]:
    """Of the earlier run that this one goes on with, or a new one."""
    states = [_state(source) for source in sources]
    manifest = folder.found_in(into)
    if manifest is None:
        return folder.empty_manifest(states, choice.as_data())
    same, was = [_same(state) for state in states], [_same(state) for state in manifest["sources"]]
    if same != was:
        changed = [state["path"] for state in same if state["path"] in {old["path"] for old in was}]
        what = f"{changed[0]} has changed since" if changed and len(same) == len(was) else "it was of other sources"
        raise CannotIngest(f"{into} holds an earlier ingest and {what}; use --anew or another folder")
    if manifest["choice"] != choice.as_data():
        raise CannotIngest(f"{into} holds an earlier ingest with another choice of posts; use --anew or another folder")
    return manifest


def _same(state: dict[str, Any]) -> dict[str, Any]:
    """What must be as it was for a run to go on."""
    return {"encoding": "", **{name: state.get(name) for name in _TO_BE_THE_SAME if name in state}}


def _state(source: Source) -> dict[str, Any]:
    return {
        "path": str(source.path.absolute()),
        "format": source.format,
        "site": source.site,
        "columns": dict(source.columns),
        "encoding": source.encoding,
        "bytes": source.size,
        "print": source.print_of_it,
        "position": 0,
        "posts": 0,
        "set_aside": 0,
        "left_out": 0,
        "finished": False,
    }


def _take_in(
    source: Source,
    state: dict[str, Any],
    corpus: folder.Folder,
    chooser: Chooser,
    seen: Seen | None,
    part_bytes: int,
    tell: Callable[[int], None],
) -> None:
    if state["position"]:
        _remember_kept(chooser, corpus, source)
    done = None
    for batch in _batches(source, state, chooser):
        once = batch.posts if seen is None else seen.fresh(batch.posts)
        posts = chooser.chosen(once)
        left_out = batch.left_out + len(once) - len(posts)
        corpus.add(posts, batch.aside, source.name)
        corpus.read += batch.done - done if done is not None else 0
        done = batch.done
        state["position"] = batch.position
        state["posts"] += len(posts)
        state["set_aside"] += len(batch.aside)
        state["left_out"] += left_out
        corpus.manifest["left_out"] += left_out
        corpus.manifest["came_twice"] += len(batch.posts) - len(once)
        tell(batch.done)
        if corpus.held >= part_bytes or corpus.read >= part_bytes * _WITHOUT_FILLING:
            corpus.confirm()
    # Confirmed with the next part: a folder may hold thousands of small sources.
    state["finished"] = True


def _batches(source: Source, state: dict[str, Any], chooser: Chooser) -> Iterator[Batch]:
    """All of a source from its position on; where it is damaged it ends."""
    position = state["position"]
    if source.format == "parquet":
        row = partial(_row, source.site)
        yield from gathered(tables.read_parquet(source, position), row)
        return
    try:
        stream = open_at(source.path, source.packing, source.member, position, source.encoding)
    except Damaged as error:
        raise CannotIngest(f"{source.path}: {error}") from None
    try:
        for batch in _of_stream(source, stream, position, chooser):
            position = batch.position
            yield batch
    except Damaged as error:
        state["damaged"] = str(error)
        yield Batch(position, stream.done, aside=[Aside(position, str(error), "")])
    finally:
        stream.close()


def _of_stream(source: Source, stream: Stream, position: int, chooser: Chooser) -> Iterator[Batch]:
    if source.format == "dump":
        from sleuth.study.ingest import dump

        return dump.read(stream, position, source.site, chooser)
    if source.format == "csv":
        return gathered(tables.read_csv(source, stream, position), partial(_row, source.site))
    read = jsons.read_lines if source.format == "jsonl" else jsons.read_values
    return gathered(read(stream, position), partial(_record, source))


def _row(site: str, values: Any, start: int) -> list[Any]:
    return [columns.row_of(values, site, start)]


def _record(source: Source, value: Any, start: int) -> Iterator[Any]:
    return shapes.posts_of(value, source.site, start, source.columns)


def _may_come_twice(source: Source, sources: list[Source]) -> bool:
    """Within one dump an id is there once. Pages of an API overlap; so do two dumps of a site, or its archive and what
    was unpacked from it."""
    others = [other for other in sources if other is not source]
    return source.format != "dump" or any(other.format != "dump" or other.site == source.site for other in others)


def _seen(sources: list[Source], corpus: folder.Folder) -> Seen:
    """With what an earlier run has confirmed."""
    seen = Seen()
    if any(_may_come_twice(source, sources) for source in sources):
        for part in corpus.manifest["parts"]:
            seen.fresh(pq.read_table(corpus.path / POSTS / part["file"], columns=["key"]))
    return seen


def _remember_kept(chooser: Chooser, corpus: folder.Folder, source: Source) -> None:
    """The questions that an earlier run has kept of this source: their answers may still come."""
    if chooser.choice.is_all:
        return
    for part in corpus.manifest["parts"]:
        rows = pq.read_table(corpus.path / POSTS / part["file"], columns=["id", "parent", "site"])
        rows = rows.filter(pc.and_(pc.is_null(rows["parent"]), pc.equal(rows["site"], source.site)))
        chooser.keep(np.asarray(rows["id"].drop_null(), np.int64))
