"""The quick reader of front matter never disagrees with a real TOML parser."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth import handbook
from sleuth.handbook import front_matter

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@given(st.text(alphabet="ab_=[]\"\\,\n #'é+1", max_size=60))
def test_whatever_it_accepts_toml_reads_the_same(front):
    quick = front_matter._simple(front)
    if quick is not None:
        assert quick == tomllib.loads(front)


WORDS = st.text(st.characters(blacklist_characters='"\\', blacklist_categories=["C", "Z"]))


@given(st.dictionaries(st.sampled_from(["title", "kind", "root_cause"]), WORDS | st.lists(WORDS)), st.booleans())
def test_plain_strings_and_lists_need_no_toml_parser(matter, spread):
    lines = []
    for key, value in matter.items():
        if isinstance(value, str):
            lines.append(f'{key} = "{value}"')
        else:
            opening, comma, closing = ("[\n    ", ",\n    ", ",\n]") if spread and value else ("[", ", ", "]")
            items = comma.join(f'"{item}"' for item in value)
            lines.append(f"{key} = {opening}{items}{closing}")
    assert front_matter._simple("\n".join(lines)) == matter


@pytest.mark.parametrize("value", [r'"a \"quoted\" word"', '"""three"""', "'single'", '["a"] # note', '[["a"]]', "3"])
def test_any_other_toml_is_read_too(value):
    matter, _ = front_matter.split(f"+++\ntitle = {value}\n+++\ntext\n")
    assert matter == tomllib.loads(f"title = {value}")


@pytest.mark.parametrize("source", ["", "no front matter", "+++\ntitle = 'open'\n", "text\n+++\n+++\n"])
def test_a_page_without_front_matter_is_refused(source):
    with pytest.raises(ValueError, match="front matter"):
        front_matter.split(source)


def test_a_heading_inside_code_is_no_section(pages, monkeypatch):
    monkeypatch.setattr(handbook, "PAGES", pages)
    page = handbook.page("log-of-zero")
    assert list(page.sections) == ["What you see", "Why", "How to fix"]
    assert "## not a heading" in page.sections["What you see"]
    assert page.sections["How to fix"] == "Clamp it."
