"""Curves stay small however long the run is, and no extreme is lost on the way."""

from __future__ import annotations

import base64
import math
import struct
from array import array

from hypothesis import given
from hypothesis import strategies as st

from sleuth.view import series
from sleuth.view.series import MOST_POINTS, Series, packed


def filled(values):
    curve = Series()
    for step, value in enumerate(values):
        curve.add(step, 1, value, step)
    return curve


def test_a_short_curve_is_kept_as_it_is():
    curve = filled([3.0, 1.0, 2.0])
    assert list(curve.step) == [0, 1, 2]
    assert list(curve.mean) == [3, 1, 2]


def test_a_long_curve_keeps_its_extremes_and_its_mean():
    values = [math.sin(step / 50) for step in range(50_000)]
    values[31_415] = 99.0
    values[27_182] = -99.0
    curve = filled(values)
    assert MOST_POINTS / 2 <= len(curve) <= MOST_POINTS
    assert (min(curve.low), max(curve.high)) == (-99, 99)
    total = sum(mean * count for mean, count in zip(curve.mean, curve.count, strict=True))
    assert math.isclose(total, sum(values), rel_tol=1e-9)
    assert curve.step[-1] + curve.steps[-1] == 50_000


def test_a_nan_is_never_averaged_away():
    values = ["nan" if step == 777 else 1.0 for step in range(20_000)]
    curve = filled(values)
    bad = [index for index, mean in enumerate(curve.mean) if math.isnan(mean)]
    assert len(bad) == 1
    assert curve.step[bad[0]] <= 777 < curve.step[bad[0]] + curve.steps[bad[0]]
    assert (curve.low[bad[0]], curve.high[bad[0]]) == (1, 1)


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.integers(-1, 70))
def test_what_is_new_joins_what_was_sent_before(values, since):
    most, series.MOST_POINTS = series.MOST_POINTS, 8
    try:
        earlier, now = filled(values[: since + 1]), filled(values)
    finally:
        series.MOST_POINTS = most
    start = now.since(since)
    sent = [*list(earlier.mean)[:start], *now.mean[start:]]
    assert sent == list(now.mean)


def test_numbers_are_packed_exactly():
    sent = base64.b64decode(packed(array("d", [1e300, -0.1, math.inf])))
    assert struct.unpack("<3d", sent) == (1e300, -0.1, math.inf)
