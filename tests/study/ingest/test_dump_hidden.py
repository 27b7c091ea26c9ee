import random

import numpy as np
import pytest
import small_dump
from small_dump import SITE, read

from sleuth.study.ingest import dump
from sleuth.study.ingest.choice import Choice
from sleuth.study.ingest.dump_hidden import blanked

ROW = small_dump.row(Id=77, PostTypeId=1, Title="hidden", Tags="<hidden>").strip()
HIDDEN = [
    b"<!-- " + ROW + b" -->",
    b"<![CDATA[ " + ROW + b" ]]>",
    b"<?why " + ROW + b"?>",
    b"<!---->",
    b"<!-- <row -->",
]


def with_hidden(seed):
    draw = random.Random(seed)
    rows = []
    for row in small_dump.rows(60, seed=seed):
        rows += [b"  " + draw.choice(HIDDEN) + b"\n"] * draw.choice([0, 0, 1, 2]) + [row]
    return small_dump.whole(rows)


@pytest.mark.parametrize("chunk", [300, 2_000, 4 << 20])
def test_a_row_in_a_comment_or_a_cdata_section_is_none_as_lxml_has_it(monkeypatch, chunk):
    monkeypatch.setattr(dump, "_CHUNK", chunk)
    data = with_hidden(seed=3)
    assert read(data) == (small_dump.read_by_lxml(data, SITE), [])


def test_nor_is_it_when_rows_are_chosen_by_tag(monkeypatch):
    monkeypatch.setattr(dump, "_SIFTED_CHUNK", 700)
    posts, aside = read(with_hidden(seed=4), Choice(tags=("hidden",)))
    assert (posts, aside) == ([], [])


def test_a_comment_that_begins_in_a_broken_row_hides_nothing():
    rows = small_dump.rows(20, seed=5)
    broken = b'  <row Id="900" Body="<!-- never closed" />\n'
    posts, aside = read(small_dump.whole([*rows[:10], broken, *rows[10:]]))
    assert len(posts) == 20
    assert len(aside) == 1


def test_a_comment_that_never_ends_takes_no_row_with_it():
    rows = small_dump.rows(20, seed=6)
    posts, aside = read(small_dump.whole([*rows[:10], b"  <!-- open\n", *rows[10:]]))
    assert len(posts) == 20
    assert len(aside) == 1


def test_blanks_are_as_long_as_what_they_stand_for():
    data = b"<a/> <!-- <b/> --> <c/> <!-- open"
    shown, sure = blanked(data, np.flatnonzero(np.frombuffer(data, np.uint8) == 60))
    assert shown == b"<a/>" + b" " * 15 + b"<c/> <!-- open"
    assert sure == data.index(b"<!-- open")
