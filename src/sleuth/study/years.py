"""The year of a time in milliseconds, by whole numbers alone: no engine's calendar or time zone has a say in it."""

from __future__ import annotations

from typing import Any

_DAY_MS = 86_400_000
# The days from 1 March of the year 0, where a cycle of 400 years begins, to 1 January 1970.
_DAYS_BEFORE_1970 = 719_468
_CYCLE_DAYS = 146_097
_CYCLE_YEARS = 400


def year_of(milliseconds: Any) -> Any:
    """An Ibis expression (or a plain integer): the calendar year, in UTC."""
    days = milliseconds // _DAY_MS + _DAYS_BEFORE_1970
    cycle = days // _CYCLE_DAYS
    day = days - cycle * _CYCLE_DAYS
    # Years are counted from March, so that a leap day is the last day of its year.
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day_of_year = day - (365 * year + year // 4 - year // 100)
    # January and February, the last 60 days or so, belong to the next calendar year.
    return year + cycle * _CYCLE_YEARS + (day_of_year + 60) // 366
