"""Loose values of a row (times, numbers, tags, names of sites) become the types of a corpus."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlsplit

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
# Seconds reach this in the year 5138, milliseconds did in 1973.
_SURELY_MILLISECONDS = 10**11
_LARGEST = 2**63 - 1
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9}))?)? ?(Z|UTC|[+-]\d\d:?\d\d)?\Z", re.ASCII
)
_MONTH = re.compile(r"((?:1[89]|2\d)\d\d)(-\d\d)?(?:\.0+)?", re.ASCII)
_NUMBER = re.compile(r"([+-]?\d{1,19})(?:\.0+)?", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")
# Sites whose posts are known by a short name; all others by the name of the site.
SHORT = {"stackoverflow": "so", "github": "gh", "pytorch-forum": "ptf"}
_LONG = {short: site for site, short in SHORT.items()}
_SITE = re.compile(
    r"((?:[\w-]+\.)*(?:stackexchange|stackoverflow|serverfault|superuser|askubuntu|mathoverflow|stackapps))(?:\.(?:com|net))?\b",
    re.IGNORECASE,
)


class Unfit(Exception):
    """A row that cannot be taken in; `str()` of it says why."""


def text_of(value: Any) -> str | None:
    """A string that can be stored: halves of surrogate pairs, which only JSON can carry, are replaced."""
    if value is None:
        return None
    if isinstance(value, bytes):
        # Parquet files of many programs do not say that their texts are texts.
        value = value.decode("utf-8", "replace")
    elif isinstance(value, (dict, list, tuple)):
        raise Unfit(f"it has {'a list' if not isinstance(value, dict) else 'an object'} where a text should be")
    text = value if isinstance(value, str) else str(value)
    return _SURROGATES.sub("\ufffd", text) if not text.isascii() else text


def whole(value: Any, what: str) -> int | None:
    """An integer, or None where there is none."""
    if value is None or value == "" or value != value:
        return None
    # A column with gaps comes out of many programs as numbers with a point.
    found = _NUMBER.fullmatch(str(value).strip())
    if found is None or abs(int(found.group(1))) > _LARGEST:
        raise Unfit(f"{what} is not a whole number: {_short(value)}")
    return int(found.group(1))


def time_ms(value: Any, what: str) -> int | None:
    """Milliseconds since 1970 of a date, a time (UTC unless it says otherwise) or a count of seconds."""
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=timezone.utc)
        return (aware - _EPOCH) // _MILLISECOND
    if (alone := _MONTH.fullmatch(str(value).strip())) is not None:
        # A year or a month is its beginning; as a count of seconds it would be half an hour of 1970.
        value = f"{alone.group(1)}{alone.group(2) or '-01'}-01"
    if isinstance(value, (int, float)) or str(value).strip().isdigit():
        number = float(value)
        if abs(number) > _LARGEST:
            raise Unfit(f"{what} is not a time: {_short(value)}")
        return round(number) if abs(number) >= _SURELY_MILLISECONDS else round(number * 1000)
    found = _TIME.match(str(value).strip())
    if found is None:
        raise Unfit(f"{what} is not a time: {_short(value)}")
    return _milliseconds(found, what)


def _milliseconds(found: re.Match[str], what: str) -> int:
    date, minutes, seconds, fraction, zone = found.groups()
    zone = "+00:00" if zone in (None, "Z", "UTC") else zone if ":" in zone else f"{zone[:3]}:{zone[3:]}"
    try:
        time = datetime.fromisoformat(f"{date}T{minutes or '00:00'}{seconds or ':00'}{zone}")
    except ValueError:
        raise Unfit(f"{what} is not a time: {_short(found.string)}") from None
    return (time - _EPOCH) // _MILLISECOND + int(f"{fraction or '0':0<3}"[:3])


def tags_of(value: Any) -> list[str]:
    """`<a><b>` and `|a|b|` as dumps write them, `a;b`, `a, b`, a list of strings or of labels with names."""
    if isinstance(value, dict) and "nodes" in value:
        value = value["nodes"]
    if value is None or value != value:
        return []
    if not isinstance(value, str):
        if not isinstance(value, (list, tuple)):
            raise Unfit(f"tags are neither a text nor a list: {_short(value)}")
        named = (tag.get("name") if isinstance(tag, dict) else tag for tag in value)
        return [text_of(tag) or "" for tag in named if tag]
    text = value.strip()
    if text.startswith("<"):
        return [tag for tag in text[1:].removesuffix(">").split("><") if tag]
    if text.startswith("|"):
        return [tag for tag in text.split("|") if tag]
    for mark in "|;,":
        if mark in text:
            return [tag.strip(" '\"[]") for tag in text.split(mark) if tag.strip(" '\"[]")]
    return [tag for tag in text.split() if tag.strip("[]'\"")]


def site_named_in(words: str) -> str | None:
    """`ai.stackexchange` of `ai.stackexchange.com.7z`; None where no site is named."""
    found = _SITE.search(words)
    return found.group(1).lower().removeprefix("www.") if found else None


def site_of_link(link: Any) -> str | None:
    try:
        host = urlsplit(link).hostname if isinstance(link, str) else None
    except ValueError:
        return None
    return site_named_in(host) if host else None


def key_of(site: str, number: int | str) -> str:
    return f"{SHORT.get(site, site)}:{number}"


def site_of_key(key: str) -> str:
    short, _, rest = key.partition(":")
    if short in ("http", "https"):
        return rest.strip("/").partition("/")[0]
    return _LONG.get(short, short)


def _short(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else text[:40] + "…")
