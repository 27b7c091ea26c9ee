"""What may stand on the right of a filter in a preset, and the line that says so where something else does."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)


class BadFilter(Exception):
    """`str()` of it is the one line to show."""


def yes_or_no(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadFilter(f"{name} is true or false, not {value!r}")
    return value


def texts(name: str, value: Any) -> list[str]:
    """One text, or a list of them."""
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, list) or not several or not all(isinstance(text, str) and text for text in several):
        raise BadFilter(f"{name} takes a text or a list of texts, not {value!r}")
    return several


def table(name: str, value: Any, *keys: str) -> Mapping[str, Any]:
    """A table that holds some of these keys and no other."""
    if not isinstance(value, Mapping) or not value or set(value) - set(keys):
        example = ", ".join(f"{key} = …" for key in keys)
        raise BadFilter(f"{name} takes {{ {example} }}, not {value!r}")
    return value


def whole_number(name: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadFilter(f"{name} takes a whole number, not {value!r}")
    return value


def first_moment(name: str, value: Any) -> int:
    """Milliseconds since 1970 at the beginning of a day, or at a time."""
    return _milliseconds(name, value, time.min)


def last_moment(name: str, value: Any) -> int:
    """Milliseconds since 1970 at the very end of a day, or at a time."""
    return _milliseconds(name, value, time.max)


def _milliseconds(name: str, value: Any, of_day: time) -> int:
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            raise BadFilter(f"{name} takes a day such as 2018-12-31, not {value!r}") from None
    if not isinstance(value, date):
        raise BadFilter(f"{name} takes a day such as 2018-12-31, not {value!r}")
    moment = value if isinstance(value, datetime) else datetime.combine(value, of_day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - _EPOCH) // _MILLISECOND
