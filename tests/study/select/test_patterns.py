"""A pattern finds what Python finds with it, on texts made of the letters on which engines differ."""

from __future__ import annotations

import re

import ibis
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic import awkward_posts

from sleuth.study import engine
from sleuth.study.select import patterns

_MARK = "\x1f"


@pytest.fixture(scope="module")
def duckdb() -> ibis.BaseBackend:
    return engine.connect()


@pytest.mark.parametrize(
    "pattern",
    [
        patterns.word("nan", "inf"),
        patterns.word("how to", "c++", "a.b"),
        patterns.start("merge", "fix"),
        patterns.whole(["tensorflow*", "*torch*", "c++", "[x]^"], _MARK),
    ],
)
def test_duckdb_finds_what_python_finds(pattern: str, duckdb: ibis.BaseBackend) -> None:
    posts = awkward_posts(3_000, seed=1)
    texts = [text for text in posts["title"].to_pylist() if text is not None]
    texts += [f"{_MARK}{text}{_MARK}" for text in texts]
    table = engine.small_table(duckdb, pa.table({"text": texts}))
    found = table.select(table.text, found=table.text.re_search(pattern)).to_pyarrow().to_pylist()
    assert [row["text"] for row in found if row["found"] != bool(re.search(pattern, row["text"]))] == []


@given(st.text("nNaAiIfFkK\u212a\u0130é_ 0.-", max_size=8), st.sampled_from(["nan", "inf"]))
def test_a_word_is_found_exactly_where_no_letter_digit_or_underscore_touches_it(text: str, word: str) -> None:
    words = re.split("[^0-9A-Za-z_]", text)
    assert bool(re.search(patterns.word(word), text)) == (word in [one.lower() for one in words if one.isascii()])


@given(
    st.lists(st.text("ab*+.[]^$\\(", min_size=1, max_size=4), min_size=1, max_size=3),
    st.text("ab+.[]^$\\(", max_size=4),
)
def test_a_star_stands_for_anything_and_every_other_letter_for_itself(globs: list[str], item: str) -> None:
    def is_like(glob: str) -> bool:
        return re.fullmatch("(?i)" + ".*".join(re.escape(part) for part in glob.split("*")), item) is not None

    pattern = patterns.whole(globs, _MARK)
    assert bool(re.search(pattern, f"{_MARK}{item}{_MARK}")) == any(map(is_like, globs))
