"""Changes to a program's text: another layout or encoding of the same, or something that is no program any more."""

from __future__ import annotations

import ast
import codecs
import io
import json
import random
import re
import tokenize
import warnings
from collections.abc import Callable
from itertools import pairwise

Layout = Callable[[str, random.Random], str]
Breakage = Callable[[bytes, random.Random], bytes]


def parses(source: str | bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def _logical_lines(text: str) -> list[int]:
    """The rows (from 0) on which a simple statement at the start of its line begins and ends."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assign | ast.Expr | ast.AugAssign | ast.Import | ast.ImportFrom | ast.Return):
            found += [node.lineno - 1] * (node.lineno == node.end_lineno)
    return sorted(set(found))


def _with(text: str, spots: list[tuple[int, int]], pieces: list[str], rng: random.Random, most: int) -> str:
    """The text with pieces put in at some of these rows and columns."""
    lines = text.split("\n")
    for row, column in sorted(rng.sample(spots, min(len(spots), most)), reverse=True):
        lines[row] = lines[row][:column] + rng.choice(pieces) + lines[row][column:]
    return "\n".join(lines)


def _line_ends(text: str) -> list[tuple[int, int]]:
    lines = text.split("\n")
    return [(row, len(lines[row])) for row in _logical_lines(text)]


def comments_at_the_end(text: str, rng: random.Random) -> str:
    silencing = [" # sleuth: ignore", "  # sleuth: ignore[log-of-zero", "  # sleuth: ignore[nope, ]"]
    return _with(text, _line_ends(text), ["  # why", "#", "  # é漢字", "  # type: ignore", *silencing], rng, 5)


def space_at_the_end(text: str, rng: random.Random) -> str:
    return _with(text, _line_ends(text), [" ", "\t", "   ", "\x0c"], rng, 5)


def a_string_before(text: str, rng: random.Random) -> str:
    """Columns in bytes are no longer columns in letters."""
    lines = text.split("\n")
    spots = [(row, len(_indent(lines[row]))) for row in _logical_lines(text)]
    return _with(text, spots, ["'é'; ", "'漢字😀'; ", "ﬁ = 1; ", "pass; "], rng, 4)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def statements_on_one_line(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    rows = _logical_lines(text)
    pairs = [row for row in rows if row + 1 in rows and _indent(lines[row]) == _indent(lines[row + 1])]
    for row in sorted(rng.sample(pairs, min(len(pairs), 4)), reverse=True):
        lines[row : row + 2] = [lines[row] + rng.choice(["; ", ";"]) + lines[row + 1].lstrip()]
    return "\n".join(lines)


def _operators(text: str, wanted: str) -> list[tokenize.TokenInfo]:
    """The tokens that are one of these signs."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [token for token in tokens if token.type == tokenize.OP and token.string in tuple(wanted)]


def breaks_inside_brackets(text: str, rng: random.Random) -> str:
    depth = 0
    spots = []
    for token in _operators(text, "()[]{},"):
        depth += (token.string in "([{") - (token.string in ")]}")
        if depth and token.string in "([{,":
            spots.append((token.end[0] - 1, token.end[1]))
    gaps = ["\n", "\n        ", "  # é (\n", "\n\n", "\n\t", "   "]
    return _with(text, spots, gaps, rng, rng.choice([2, 10, 40]))


def backslashes(text: str, rng: random.Random) -> str:
    spots = [(token.start[0] - 1, token.start[1]) for token in _operators(text, "=.+*")]
    return _with(text, spots, [" \\\n  "], rng, 3)


def odd_spaces(text: str, rng: random.Random) -> str:
    """As some write: `torch . log ( x )`."""
    spots = [(token.start[0] - 1, token.start[1]) for token in _operators(text, ".(,=)")]
    return _with(text, spots, [" ", "  ", "\t"], rng, 12)


def parentheses(text: str, rng: random.Random) -> str:
    """Around expressions, where they change nothing but the place of everything after them."""
    kinds = (ast.Call, ast.Name, ast.BinOp, ast.Constant)
    for _ in range(4):
        lines = [line.encode() for line in text.split("\n")]
        found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
        if not found:
            break
        node = rng.choice(found)
        assert node.end_lineno is not None
        left, right = rng.choice([("(", ")"), ("((", "))"), ("( ", " )"), ("(\n", "\n)"), ("(  # why\n", ")")])
        row, column = node.end_lineno - 1, node.end_col_offset
        lines[row] = lines[row][:column] + right.encode() + lines[row][column:]
        row, column = node.lineno - 1, node.col_offset
        lines[row] = lines[row][:column] + left.encode() + lines[row][column:]
        changed = b"\n".join(lines).decode()
        text = changed if parses(changed) else text
    return text


def tabs(text: str, rng: random.Random) -> str:
    return re.sub(r"^(?: {4})+", lambda spaces: "\t" * (len(spaces[0]) // 4), text, flags=re.MULTILINE)


def two_spaces(text: str, rng: random.Random) -> str:
    return re.sub(r"^(?: {4})+", lambda spaces: "  " * (len(spaces[0]) // 4), text, flags=re.MULTILINE)


def form_feeds(text: str, rng: random.Random) -> str:
    return re.sub(r"\n\n", "\n\x0c\n", text)


def something_first(text: str, rng: random.Random) -> str:
    future = "from __future__ import annotations\n"
    return rng.choice(["\n\n\n", "#!/usr/bin/env python\n", "# é\n", "'''é\n\nmore'''\n", future]) + text


def no_last_line_end(text: str, rng: random.Random) -> str:
    return text.rstrip() + rng.choice(["", " ", "\\\n", "  # end", ";"])


def one_space_indent(text: str, rng: random.Random) -> str:
    return re.sub(r"^(?: {4})+", lambda spaces: " " * (len(spaces[0]) // 4), text, flags=re.MULTILINE)


LAYOUTS: list[Layout] = [
    *(comments_at_the_end, space_at_the_end, a_string_before, statements_on_one_line, breaks_inside_brackets),
    *(backslashes, odd_spaces, parentheses, tabs, two_spaces, one_space_indent, form_feeds, something_first),
    no_last_line_end,
]


def as_notebook(text: str, rng: random.Random) -> bytes:
    """Cut between statements of the top level, with a magic here and there."""
    starts = [node for node in ast.parse(text).body if not getattr(node, "decorator_list", None)]
    rows = [node.lineno - 1 for node in starts if node.col_offset == 0]
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    cuts = sorted({0, *rng.sample(rows, min(len(rows), 4)), len(lines)})
    cells: list[dict[str, object]] = []
    for start, end in pairwise(cuts):
        source: list[str] = lines[start:end]
        if rng.random() < 0.3:
            source = [
                rng.choice(["%matplotlib inline\n", "!pip install torch\n", "%%time\n", "x = !ls\n", "?torch\n"]),
                *source,
            ]
        code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
        cells.append({**code, "source": source if rng.random() < 0.8 else "".join(source)})
        cells += [{"cell_type": "markdown", "metadata": {}, "source": ["# é\n"]}] * (rng.random() < 0.3)
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=rng.choice([None, 1]), ensure_ascii=rng.random() < 0.5).encode(
        "utf-8", "surrogatepass"
    )


def encoded(text: str, rng: random.Random) -> tuple[str, bytes]:
    way = rng.choice(["utf-8"] * 6 + ["crlf", "cr", "mixed", "bom", "latin-1", "cookie"])
    if way == "crlf":
        return way, text.replace("\n", "\r\n").encode()
    if way == "cr":
        return way, text.replace("\n", "\r").encode()
    if way == "mixed":
        return way, re.sub("\n", lambda _: rng.choice(["\n", "\r\n"]), text).encode()
    if way == "bom":
        return way, codecs.BOM_UTF8 + text.encode()
    if way == "latin-1":
        return way, f"# -*- coding: latin-1 -*-\n{text}".encode("latin-1", "replace")
    if way == "cookie":
        return way, f"# vim: set fileencoding=utf8 :\n{text}".encode()
    return way, text.encode()


def truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 3, 30])):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def with_rubbish(data: bytes, rng: random.Random) -> bytes:
    where = rng.randrange(len(data))
    rubbish = [
        b"\0",
        b"\xff\xfe",
        b"\xed\xa0\x80",
        b"\x1a",
        b"\x7f",
        b"$",
        b"?",
        "\u200b".encode(),
        b"\n\t ",
        b"\\",
        b"'''",
        b"(",
        b"]",
    ]
    return data[:where] + rng.choice(rubbish) + data[where:]


def with_a_hole(data: bytes, rng: random.Random) -> bytes:
    where = rng.randrange(len(data))
    return data[:where] + data[where + rng.choice([1, 5, 50]) :]


def in_another_encoding(data: bytes, rng: random.Random) -> bytes:
    text = data.decode("utf-8", "replace")
    ways = [
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-32-be"),
        lambda: f"# -*- coding: ascii -*-\nname = 'é'\n{text}".encode(),
        lambda: b"name = '\xe9'\n" + text.encode(),
        lambda: f"# coding: no-such-encoding\n{text}".encode(),
        lambda: f"# coding: hex\n{text}".encode(),
        lambda: codecs.BOM_UTF8 + f"# coding: latin-1\n{text}".encode(),
        lambda: f"# coding: utf-7\n{text}+AGEA".encode(),
        lambda: bytes(rng.randrange(256) for _ in range(300)),
    ]
    return rng.choice(ways)()


def indented_wrongly(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    row = rng.randrange(len(lines))
    lines[row] = rng.choice([b" ", b"\t", b"   \t ", b"        "]) + lines[row]
    return b"\n".join(lines)


def without_a_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    rng.shuffle(lines)
    return b"\n".join(lines)


def of_another_language(data: bytes, rng: random.Random) -> bytes:
    pieces = [
        b"print 'loss', loss\n",
        b"exec code in scope\n",
        b"<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n",
        b"{% if torch %}\nimport torch\n{% endif %}\n",
        b"raise ValueError, 'no'\n",
        b"x = 0777\n",
        b"!pip install torch\n",
        b"%matplotlib inline\n",
        b"async = 1\n",
        b"def f((a, b)): pass\n",
        b"x = `y`\n",
        b"f(a=1, 2)\n",
        b"x = " + b"(" * 300 + b")" * 300 + b"\n",
        b"x = " + b"9" * 5000 + b"\n",
        b"x = f'{'\n",
        b"lambda: (yield) = 1\n",
    ]
    return rng.choice(pieces) + data


BREAKAGES: list[Breakage] = [
    *(truncated, flipped, with_rubbish, with_a_hole, in_another_encoding, indented_wrongly, without_a_line),
    of_another_language,
]
