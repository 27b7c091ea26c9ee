"""A body as people wrote it, in HTML or Markdown, becomes its text and, apart from it, its blocks of code."""

from __future__ import annotations

import re
from html import unescape

# What `str.strip` would take too, but only of ASCII: so that Arrow's kernels agree with it.
BLANKS = " \t\n\r\x0b\x0c"
# Tags that stand inside a line. Any other one ends the line it is in.
INLINE = (
    "a abbr b bdi bdo big cite code data del dfn em font i img ins kbd mark q s samp small span strike strong sub sup "
    "time tt u var wbr"
).split()

_BLOCK = re.compile(r"<pre\b[^<>]*>(.*?)</pre\s*>\n*", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")
_TAGS = re.compile(r"(?:<[A-Za-z/!][^<>]*>)+")
_NOT_INLINE = re.compile(rf"</?(?!(?:{'|'.join(INLINE)})\b)[a-z]", re.IGNORECASE)
_MARKUP = re.compile(r"</?(?:p|pre|code|a|ul|ol|li|br|em|strong|blockquote|h[1-6]|div|img)\b[^<>]*>", re.IGNORECASE)
_FENCE = re.compile(
    r"^(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[^\n`]*\n(?P<code>.*?)(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)\n*",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


def of_html(body: str) -> tuple[str, list[str]]:
    """Text without tags, and the insides of its <pre> blocks."""
    code: list[str] = []

    def take(block: re.Match[str]) -> str:
        code.append(unescape(_TAG.sub("", block.group(1))).rstrip("\n"))
        return "" if block.start() == 0 or block.string[block.start() - 1] == "\n" else "\n"

    if "<" in body:
        body = _BLOCK.sub(take, body)
        body = _TAGS.sub(_between_words, body)
    return unescape(body).strip(BLANKS), code


def of_markdown(body: str) -> tuple[str, list[str]]:
    """Text as it is, without the comments of issue forms, and the insides of its fences."""
    body = body.replace("\r\n", "\n")
    code: list[str] = []

    def take(block: re.Match[str]) -> str:
        code.append(block["code"].rstrip("\n"))
        return ""

    if "```" in body or "~~~" in body:
        body = _FENCE.sub(take, body)
    if "<!--" in body:
        body = _COMMENT.sub("", body)
    return body.strip(BLANKS), code


def is_html(body: str) -> bool:
    return _MARKUP.search(body) is not None


def _between_words(tags: re.Match[str]) -> str:
    """Nothing, or the end of a line where two words would melt into one."""
    body, start, end = tags.string, tags.start(), tags.end()
    if start == 0 or end == len(body) or body[start - 1] in BLANKS or body[end] in BLANKS:
        return ""
    return "\n" if _NOT_INLINE.search(tags.group()) else ""
