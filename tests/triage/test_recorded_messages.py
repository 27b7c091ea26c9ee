"""Messages that cannot happen here are known, too, in the words recorded in `recorded.toml`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from recognising import errors_in

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RECORDED = tomllib.loads((Path(__file__).with_name("recorded.toml")).read_text(encoding="utf-8"))["message"]
CASES = [pytest.param(row["signature"], row["text"], id=f"{row['signature']}-{n}") for n, row in enumerate(RECORDED)]


@pytest.mark.parametrize(("name", "text"), CASES)
def test_a_recorded_message_is_known_by_its_signature_first(name: str, text: str) -> None:
    found = errors_in(f'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n{text}\n')
    assert [match.signature.name for match in found][:1] == [name]
    assert "…" not in found[0].recognised.why


@pytest.mark.parametrize("row", RECORDED, ids=lambda row: row["signature"])
def test_a_recorded_message_names_where_it_can_be_read(row: dict[str, str]) -> None:
    assert row["source"].startswith(("https://github.com/", "library: "))
