"""The posts of a sample as a rater may see them: without views, score, answers, date or stratum, which would sway."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sleuth.study.corpus import open_corpus

_SHOWN = ["key", "title", "text", "code", "tags"]


class NotASample(Exception):
    """`str()` of it is the one line to show."""


@dataclass(frozen=True)
class Post:
    """What is shown of a post."""

    key: str
    title: str
    text: str
    code: tuple[str, ...]
    tags: tuple[str, ...]


def posts_of(sample: str | Path, corpus: str | Path | None = None) -> list[Post]:
    """The posts of that sample, out of its corpus or the one given. Raises NotASample and NotACorpus."""
    sample = Path(sample)
    described = _read(sample)
    keys = _keys(described, sample)
    found = _found(corpus or _corpus_of(described, sample), keys)
    missing = [key for key in keys if key not in found]
    if missing:
        are = "post is" if len(missing) == 1 else "posts are"
        raise NotASample(f"{len(missing)} {are} in {sample} but not in the corpus, {missing[0]} for one; see --corpus")
    return [found[key] for key in keys]


def _read(sample: Path) -> dict[str, Any]:
    try:
        described = json.loads(sample.read_text(encoding="utf-8"))
    except IsADirectoryError:
        raise NotASample(f"{sample} is a folder; `sleuth study sample {sample} --into sample.json` draws one") from None
    except FileNotFoundError:
        raise NotASample(f"there is no {sample}; `sleuth study sample` draws one") from None
    except (OSError, ValueError) as error:
        raise NotASample(f"{sample} is not a sample: {error}") from None
    if not isinstance(described, dict) or not isinstance(described.get("posts"), list):
        raise NotASample(f"{sample} is not a sample; `sleuth study sample` draws one")
    return described


def _keys(described: dict[str, Any], sample: Path) -> list[str]:
    posts = described["posts"]
    if not posts:
        raise NotASample(f"{sample} holds no posts")
    keys = [post["key"] for post in posts if isinstance(post, dict) and isinstance(post.get("key"), str)]
    if len(keys) < len(posts):
        raise NotASample(f"{sample} is not a sample: a post in it has no key")
    # A post drawn twice is read once.
    return list(dict.fromkeys(keys))


def _corpus_of(described: dict[str, Any], sample: Path) -> Path:
    named = described.get("corpus")
    if not isinstance(named, str) or not named:
        raise NotASample(f"{sample} does not say which corpus it is of; say it with --corpus")
    # The two may have been moved together.
    beside = sample.parent / named
    return beside if beside.exists() and not Path(named).exists() else Path(named)


def _found(corpus: str | Path, keys: list[str]) -> dict[str, Post]:
    import pyarrow.compute as pc
    import pyarrow.dataset as ds

    parts = open_corpus(corpus).parts
    if not parts:
        return {}
    wanted = ds.dataset(parts, format="parquet").to_table(columns=_SHOWN, filter=pc.field("key").isin(keys))
    return {row["key"]: _post(row) for row in wanted.to_pylist()}


def _post(row: dict[str, Any]) -> Post:
    return Post(
        key=row["key"],
        title=row["title"] or "",
        text=row["text"] or "",
        code=tuple(block for block in row["code"] or () if block and block.strip()),
        tags=tuple(row["tags"] or ()),
    )
