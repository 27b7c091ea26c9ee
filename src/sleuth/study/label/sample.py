"""Random and stratified samples of a corpus: the same seed draws the same posts, on every engine and machine."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import ibis
import pyarrow as pa

from sleuth.study import engine
from sleuth.study.asked import is_asked
from sleuth.study.corpus import Corpus
from sleuth.study.label import sizes
from sleuth.study.label.store import Label
from sleuth.study.label.strata import labelled, stratum_of

SCHEMA = 1
# More strata than this were hardly meant.
_MOST_STRATA = 500

Deal = Callable[[Mapping[str, int]], Mapping[str, int]]


class NotASample(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Stratum:
    """A part of the corpus, how many posts it has, and how many were drawn."""

    name: str
    population: int
    sampled: int


@dataclass(frozen=True)
class Drawn:
    """A post of the sample. `weight` is how many posts of its stratum it stands for."""

    key: str
    stratum: str
    weight: float


@dataclass(frozen=True)
class Sample:
    """What was drawn, from what, and how. Posts are in random order: the first hundred are a sample too."""

    corpus: str
    seed: int
    by: str | None
    strata: tuple[Stratum, ...]
    posts: tuple[Drawn, ...]

    @property
    def design(self) -> Literal["random", "stratified"]:
        return "random" if self.by is None else "stratified"

    @property
    def population(self) -> int:
        return sum(stratum.population for stratum in self.strata)


def deal_of(
    share: Literal["proportional", "equal"],
    size: int | None = None,
    confidence: float = sizes.CONFIDENCE,
    margin: float = sizes.MARGIN,
) -> Deal:
    """How many to draw of each stratum: that many in all, or as many as the margin needs."""

    def deal(populations: Mapping[str, int]) -> Mapping[str, int]:
        wanted = size if size is not None else sizes.sample_size(sum(populations.values()), confidence, margin)
        return (sizes.proportional if share == "proportional" else sizes.equal)(wanted, populations)

    return deal


def draw(
    connection: Any,
    corpus: Corpus,
    deal: Deal,
    *,
    seed: int = 0,
    by: str | None = None,
    labels: Iterable[Label] = (),
    without: Collection[str] = (),
) -> Sample:
    """Draw a sample. Answers are not drawn, nor the keys in `without`; `by="label"` takes the strata from `labels`."""
    strata = _strata_table(connection, corpus, by, labels, without)
    populations = _populations(strata)
    dealt = deal(populations)
    rows = _drawn(strata, dealt, seed)
    weights = {name: populations[name] / size for name, size in dealt.items() if size}
    return Sample(
        corpus=str(corpus.folder.resolve()),
        seed=seed,
        by=by,
        strata=tuple(Stratum(name, populations[name], dealt[name]) for name in sorted(populations, key=_order)),
        posts=tuple(Drawn(row["key"], row["stratum"], weights[row["stratum"]]) for row in rows),
    )


def _order(stratum: str) -> tuple[bool, int, str]:
    """Numbers by their size, names by their letters."""
    is_number = stratum.lstrip("-").isdecimal()
    return not is_number, int(stratum) if is_number else 0, stratum


def _strata_table(
    connection: Any, corpus: Corpus, by: str | None, labels: Iterable[Label], without: Collection[str]
) -> Any:
    """Every post that may be drawn, once, with its stratum."""
    posts = engine.posts(connection, corpus)
    posts = posts.filter(is_asked(posts))
    if without:
        taken = engine.small_table(connection, pa.table({"taken": pa.array(sorted(without), pa.string())}))
        posts = posts.anti_join(taken, posts.key == taken.taken)
    posts = labelled(connection, posts, labels) if by == "label" else posts.mutate(stratum=stratum_of(posts, by))
    return posts.group_by("key").aggregate(stratum=posts.stratum.min())


def _populations(strata: Any) -> dict[str, int]:
    counted = strata.group_by("stratum").aggregate(posts=strata.count()).limit(_MOST_STRATA + 1).to_pyarrow()
    if len(counted) > _MOST_STRATA:
        raise sizes.BadSize(f"that makes more than {_MOST_STRATA} strata; choose something with fewer values")
    return {row["stratum"]: row["posts"] for row in counted.sort_by("stratum").to_pylist()}


def _drawn(strata: Any, dealt: Mapping[str, int], seed: int) -> list[dict[str, Any]]:
    """The first of each stratum in the order of a digest of seed and key, which every engine computes alike."""
    wanted = [(name, size) for name, size in dealt.items() if size]
    if not wanted:
        return []
    turn = (ibis.literal(f"{seed}:") + strata.key).hexdigest("md5")
    ordered = strata.mutate(turn=turn)
    ranked = ordered.mutate(
        place=ibis.row_number().over(group_by=ordered.stratum, order_by=[ordered.turn, ordered.key])
    )
    limit = ibis.cases(*((ranked.stratum == name, size) for name, size in wanted), else_=0)
    rows = ranked.filter(ranked.place < limit).select("key", "stratum", "turn").to_pyarrow().to_pylist()
    return sorted(rows, key=lambda row: (row["turn"], row["key"]))


def write_sample(sample: Sample, path: Path, force: bool = False) -> None:
    """Write it in one go; a sample that is there already, which people may have labelled, stays. Raises NotASample."""
    if path.exists() and not force:
        raise NotASample(f"{path} is there already; --force replaces it")
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(json.dumps(as_json(sample), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise NotASample(f"cannot write the sample to {path}: {error.strerror}") from None


def as_json(sample: Sample) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "corpus": sample.corpus,
        "seed": sample.seed,
        "design": sample.design,
        "by": sample.by,
        "strata": [vars(stratum) for stratum in sample.strata],
        "posts": [vars(post) for post in sample.posts],
    }


def read_sample(path: str | Path) -> Sample:
    """A sample that was written. Raises NotASample."""
    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return Sample(
            corpus=data["corpus"],
            seed=data["seed"],
            by=data.get("by"),
            strata=tuple(Stratum(**stratum) for stratum in data["strata"]),
            posts=tuple(Drawn(**post) for post in data["posts"]),
        )
    except OSError as error:
        raise NotASample(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise NotASample(f"{path} is not a sample; `sleuth study sample` draws one ({error})") from None
