"""The models by the names that `--model` takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from sleuth.study.classify.evaluate import Classifier
from sleuth.study.classify.keywords import KeywordModel
from sleuth.study.classify.linear import LinearModel
from sleuth.study.classify.minilm import Embedder, MiniLMModel
from sleuth.study.classify.together import BothModel

NAMES = ("keywords", "linear", "minilm", "both")


def maker(name: str, embed: Embedder | None = None, codebook: str | None = None) -> Callable[[], Classifier]:
    """What makes a fresh model of that name."""
    if name == "keywords":
        return lambda: KeywordModel(picked=picked_for(codebook))
    if name == "linear":
        return LinearModel
    reads = embed or Embedder()
    return (lambda: MiniLMModel(reads)) if name == "minilm" else (lambda: BothModel(reads))


def picked_for(codebook: str | None) -> Mapping[str, Sequence[str]] | None:
    """The words picked by hand for that codebook, if anybody has."""
    path = files("sleuth.study.classify") / "picked" / f"{codebook}.toml"
    if codebook is None or not path.is_file():
        return None
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return {label: words for label, words in found.items() if isinstance(words, list)}
