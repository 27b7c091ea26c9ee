"""Eight bytes at a time: comparing short words and reading numbers and times all over a chunk at once, in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
U64 = np.uint64
_ZEROS = U64(0x3030303030303030)
_ALL = U64(0xFFFFFFFFFFFFFFFF)
_DAYS_BEFORE = np.array([0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334], np.int64)
_DAYS_IN = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.int64)


def view(chunk: bytearray) -> Array:
    """The eight bytes at every position, as one little-endian number each. Nothing is copied."""
    return np.ndarray((len(chunk) - 7,), "<u8", chunk, strides=(1,))


def word(letters: bytes) -> U64:
    return U64(int.from_bytes(letters, "little"))


def mask(length: int) -> U64:
    """Keeps the first bytes."""
    return U64((1 << 8 * length) - 1)


class Words:
    """A few short words, looked up by their first three bytes and then compared as a whole."""

    def __init__(self, words: list[bytes]) -> None:
        """No two of them may begin with the same three bytes; each has two to eight."""
        self.words = words
        self._mask = np.array([0, *(mask(len(word)) for word in words)], U64)
        self._word = np.array([1, *(word(letters) for letters in words)], U64)
        starts = np.array([word(letters[:3]) for letters in words], U64)
        for factor in range(0x9E3779B97F4A7C15, 0x9E3779B97F4A7C15 + 200_000, 2):
            places = self._places(starts, U64(factor))
            if len(set(places.tolist())) == len(words):
                break
        self._factor = U64(factor)
        self._table = np.zeros(256, np.uint8)
        self._table[places] = np.arange(1, len(words) + 1)

    def _places(self, starts: Array, factor: U64) -> Array:
        return ((starts * factor) >> U64(56)).view(np.int64)

    def find(self, at: Array) -> Array:
        """For each eight bytes the number of the word that they begin with, counted from 1; 0 for none."""
        found = self._table.take(self._places(at & mask(3), self._factor))
        return np.asarray(found * ((at & self._mask.take(found)) == self._word.take(found)))


def integers(words: Array, starts: Array, ends: Array, buffer: Array) -> tuple[Array, Array]:
    """The numbers written there, and which of them are none (longer than 16 digits counts as none)."""
    negative = buffer[starts] == 45
    lengths = ends - starts - negative
    low, fine = _eight_digits(words[np.maximum(ends - 8, 0)], np.minimum(lengths, 8))
    long = np.flatnonzero(lengths > 8)
    if len(long):
        high, also = _eight_digits(words[np.maximum(ends[long] - 16, 0)], np.minimum(lengths[long] - 8, 8))
        low[long] += high * 100_000_000
        fine[long] &= also
    fine &= (lengths > 0) & (lengths <= 16)
    return np.where(negative, -low, low), ~fine


def _eight_digits(word: Array, lengths: Array) -> tuple[Array, Array]:
    """Of the last `lengths` bytes of each word."""
    unused = (8 * (8 - np.clip(lengths, 1, 8))).astype(U64)
    wanted = _ALL << unused
    word = (word & wanted) | (_ZEROS & ~wanted)
    fine = ((word & U64(0xF0F0F0F0F0F0F0F0)) == _ZEROS) & (
        ((word + U64(0x0606060606060606)) & U64(0xF0F0F0F0F0F0F0F0)) == _ZEROS
    )
    word = ((word & U64(0x0F0F0F0F0F0F0F0F)) * U64(2561)) >> U64(8)
    word = ((word & U64(0x00FF00FF00FF00FF)) * U64(6553601)) >> U64(16)
    word = ((word & U64(0x0000FFFF0000FFFF)) * U64(42949672960001)) >> U64(32)
    return word.astype(np.int64), fine


def times(words: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """Milliseconds since 1970 of `2016-08-02T15:39:14.947`, and which of them are written otherwise."""
    fine = ends - starts == 23
    at = np.where(fine, starts, 0)
    date, fine_date = _pairs(words[at], b"0000-00-")
    minutes, fine_minutes = _pairs(words[at + 8], b"00T00:00")
    seconds, fine_seconds = _pairs(words[at + 15], b"0:00.000")
    fine &= fine_date & fine_minutes & fine_seconds
    year, month, day = _byte(date, 0) * 100 + _byte(date, 2), _byte(date, 5), _byte(minutes, 0)
    hour, minute, second = _byte(minutes, 3), _byte(minutes, 6), _byte(seconds, 2)
    # Of three digits, the first two and the last two.
    fraction = _byte(seconds, 5) * 10 + _byte(seconds, 6) % 10
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    month = np.where((month >= 1) & (month <= 12), month, 0)
    fine &= (year > 0) & (month > 0) & (day >= 1) & (day <= _DAYS_IN[month] + (leap & (month == 2)))
    fine &= (hour < 24) & (minute < 60) & (second < 60)
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 - 719162
    days += _DAYS_BEFORE[month] + (leap & (month > 2)) + day - 1
    return (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + fraction, ~fine


def _pairs(found: Array, pattern: bytes) -> tuple[Array, Array]:
    """At every byte the number that it and the next one write, and whether digits are where the pattern has zeros.

    All else must be as in the pattern. Adding makes a byte's highest bit one if it is more than 9, or more than 0."""
    values = found ^ word(pattern)
    limits = word(bytes(127 - 9 if letter == 48 else 127 for letter in pattern))
    fine = (((values + limits) | values) & U64(0x8080808080808080)) == U64(0)
    return values * U64(10) + (values >> U64(8)), fine


def _byte(numbers: Array, place: int) -> Array:
    return ((numbers >> U64(8 * place)) & U64(0xFF)).astype(np.int64)
