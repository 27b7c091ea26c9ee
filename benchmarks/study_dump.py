"""Writes a synthetic Posts.xml in the true schema of a Stack Exchange dump, of any size: same seed, same bytes.

Questions and their answers, bodies with prose, links, lists, quotes and blocks of code, escaped as dumps escape them;
attributes that come and go; a byte-order mark; tags as `<a><b>` or, since 2024, `|a|b|`. The words are made up."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import IO

TAGS = (
    "python javascript java c# php html css sql r c++ android ios node.js arrays json regex .net django excel pandas "
    "numpy git bash linux ruby-on-rails reactjs angular docker machine-learning opencv keras tensorflow deep-learning "
    "pytorch neural-network theano conv-neural-network lstm tensorflow2.0 caffe"
).split()
_CODE = (
    "import {a} as {b}",
    "def {a}({b}, {c}=None):",
    "    return {a}.{b}({c})[0] < {d} && {b} > 1",
    "for {a} in range({d}):",
    '    print("{a}: %s" % {b})',
    "{a} = {b}.fit({c}, epochs={d})",
    "if {a} <= {d} and {b} is not None:",
    "    {a}['{b}'] += {c} & 0xff",
    "model.add(Dense({d}, activation='relu'))",
    "Traceback (most recent call last):",
    'ValueError: shapes ({d},) and ({d},3) not aligned: "{a}"',
)


class Writer:
    """Rows of one dump, from a pool of paragraphs and blocks that is made once."""

    def __init__(self, seed: int, bars: bool) -> None:
        self._random = random.Random(seed)
        self._bars = bars
        self._words = self._vocabulary()
        self._paragraphs = [self._paragraph() for _ in range(3000)]
        self._blocks = [self._block() for _ in range(2000)]
        self._titles = [self._title() for _ in range(5000)]
        self._tags = [self._tag_list() for _ in range(4000)]
        self._number = 0
        self._minute = 0
        self._open: list[int] = []

    def _vocabulary(self) -> list[str]:
        choose = self._random.choice
        words = [
            "".join(choose("bcdfghklmnprst") + choose("aeiou") for _ in range(choose((1, 2, 2, 3))))
            for _ in range(1500)
        ]
        return [*words, "naïve", "Gödel", "don't", "≈", "数据"]

    def _sentence(self, count: int) -> str:
        # Common words are common: the square pushes towards the front of the list.
        picked = [self._words[int(self._random.random() ** 2 * len(self._words))] for _ in range(count)]
        return " ".join(picked).capitalize()

    def _paragraph(self) -> str:
        parts = []
        for _ in range(self._random.randint(1, 4)):
            text = escape(self._sentence(self._random.randint(6, 22)), quote=False)
            kind = self._random.random()
            if kind < 0.25:
                text += f" <code>{escape(self._line(), quote=False)}</code>"
            elif kind < 0.35:
                link = f"https://example.org/{self._random.randint(1, 99999)}?a=1&amp;b=2"
                text += f' <a href="{link}" rel="nofollow">this</a>'
            elif kind < 0.42:
                text += " <strong>not</strong> &amp; <em>never</em>"
            parts.append(text + ("?" if kind > 0.9 else "."))
        text = " ".join(parts)
        kind = self._random.random()
        if kind < 0.06:
            items = "\n".join(f"<li>{escape(self._sentence(6), quote=False)}</li>" for _ in range(4))
            return f"<ul>\n{items}\n</ul>\n\n"
        if kind < 0.1:
            return f"<blockquote>\n  <p>{text}</p>\n</blockquote>\n\n"
        if kind < 0.1025:
            return f"<p>{text}<br>\nSee &hellip;&nbsp;there</p>\n\n"
        return f"<p>{text}</p>\n\n"

    def _line(self) -> str:
        words = {name: self._random.choice(self._words[:1500]) for name in "abc"}
        return self._random.choice(_CODE).format(**words, d=self._random.randint(1, 512))

    def _block(self) -> str:
        lines = "\n".join(self._line() for _ in range(self._random.choice((2, 4, 8, 15, 30))))
        marked = ' class="lang-py prettyprint-override"' if self._random.random() < 0.3 else ""
        return f"<pre{marked}><code>{escape(lines, quote=False)}\n</code></pre>\n\n"

    def _title(self) -> str:
        start = self._random.choice(("How to", "Why does", "What is", "", 'Error: "x" in'))
        return f"{start} {self._sentence(self._random.randint(4, 10)).lower()}".strip() + self._random.choice(
            ("?", "", " < 3")
        )

    def _tag_list(self) -> str:
        tags = {TAGS[int(self._random.random() ** 3 * len(TAGS))] for _ in range(self._random.randint(1, 5))}
        ordered = sorted(tags)
        return f"|{'|'.join(ordered)}|" if self._bars else "".join(f"<{tag}>" for tag in ordered)

    def row(self) -> bytes:
        self._number += 1
        self._minute += self._random.randint(0, 3)
        asked = not self._open or self._random.random() < 0.42
        cells = self._question() if asked else self._answer()
        written = " ".join(f'{name}="{_escaped(str(value))}"' for name, value in cells.items() if value is not None)
        return f"  <row {written} />\n".encode()

    def _question(self) -> dict[str, object]:
        self._open = [*self._open[-40:], self._number]
        chance = self._random.random
        accepted = self._number + self._random.randint(1, 30) if chance() < 0.5 else None
        return {
            **{"Id": self._number, "PostTypeId": 1, "AcceptedAnswerId": accepted},
            **{"CreationDate": self._time(0), "Score": self._score(), "ViewCount": int(10 ** (1 + 3 * chance()))},
            **self._end(self._body(0.7)),
            **{"Title": self._random.choice(self._titles), "Tags": self._random.choice(self._tags)},
            **{"AnswerCount": self._random.randint(0, 5), "CommentCount": self._random.randint(0, 9)},
            **{"FavoriteCount": self._random.randint(0, 9) if chance() < 0.3 else None},
            **{"ClosedDate": self._time(5000) if chance() < 0.05 else None},
            **({"ContentLicense": "CC BY-SA 4.0"} if self._bars else {}),
        }

    def _answer(self) -> dict[str, object]:
        return {
            **{"Id": self._number, "PostTypeId": 2, "ParentId": self._random.choice(self._open)},
            **{"CreationDate": self._time(0), "Score": self._score()},
            **self._end(self._body(0.55)),
            **{"CommentCount": self._random.randint(0, 5)},
            **({"ContentLicense": "CC BY-SA 3.0"} if self._bars else {}),
        }

    def _body(self, with_code: float) -> str:
        parts = []
        for _ in range(self._random.choice((1, 2, 2, 3, 5))):
            parts.append(self._random.choice(self._paragraphs))
            if self._random.random() < with_code / 2:
                parts.append(self._random.choice(self._blocks))
        return "".join(parts)[:-1]

    def _end(self, body: str) -> dict[str, object]:
        """The body, and who wrote it and when it was touched."""
        known, edited = self._random.random() < 0.97, self._random.random() < 0.4
        return {
            "Body": body,
            "OwnerUserId": self._random.randint(1, 9_000_000) if known else None,
            "OwnerDisplayName": None if known else f"user{self._number}",
            "LastEditorUserId": self._random.randint(1, 9_000_000) if edited else None,
            "LastEditDate": self._time(900) if edited else None,
            "LastActivityDate": self._time(2000),
        }

    def _score(self) -> int:
        return int(self._random.expovariate(0.4)) - 1

    def _time(self, later: int) -> str:
        minute = self._minute // 8 + (self._random.randint(0, later) if later else 0)
        days, minute = divmod(minute, 1440)
        year, day = divmod(days, 336)
        date = f"{2009 + year % 16}-{1 + day // 28:02}-{1 + day % 28:02}"
        return f"{date}T{minute // 60:02}:{minute % 60:02}:{self._number % 60:02}.{self._number % 1000:03}"


def _escaped(value: str) -> str:
    return escape(value, quote=False).replace('"', "&quot;").replace("\n", "&#xA;")


def rows(seed: int, bars: bool) -> Iterator[bytes]:
    writer = Writer(seed, bars)
    while True:
        yield writer.row()


def write(file: IO[bytes], size: int, seed: int = 0, bars: bool = False) -> int:
    """About this many bytes; how many rows they are."""
    written = file.write(b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n<posts>\n')
    count = 0
    for row in rows(seed, bars):
        written += file.write(row)
        count += 1
        if written >= size:
            break
    file.write(b"</posts>")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bars", action="store_true", help="tags as |a|b|, and ContentLicense")
    options = parser.parse_args()
    with open(options.file, "wb") as file:
        print(f"{write(file, int(options.megabytes * 1e6), options.seed, options.bars):,} rows")


if __name__ == "__main__":
    main()
