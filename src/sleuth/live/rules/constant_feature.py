"""An input column that has one and the same value for every sample."""

from __future__ import annotations

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link
from sleuth.live.signals import Run

TIER = 4.5
LOOKS = 6
SAMPLES = 64
COLUMNS = 256
# Encodings with more columns than this may have empty ones.
SPARSE = 32


def look(run: Run) -> Finding | None:
    seen = [one.inputs[0] for one in run.looks if one.inputs and len(one.inputs[0].shape) == 2]
    if run.supervised is None or len(seen) < LOOKS or len({one.place for one in seen}) != 1:
        return None
    if sum(one.shape[0] for one in seen) < SAMPLES or seen[0].shape[1] > COLUMNS:
        return None
    constant = dict(zip(seen[0].constant_columns, seen[0].column_values, strict=False))
    for one in seen[1:]:
        here = dict(zip(one.constant_columns, one.column_values, strict=False))
        constant = {column: value for column, value in constant.items() if here.get(column) == value}
    # Empty columns of a sparse encoding, and a column of ones for the bias, are as they should be.
    expected = (0.0, 1.0) if seen[0].shape[1] > SPARSE else (1.0,)
    suspicious = {column: value for column, value in constant.items() if value not in expected}
    if not suspicious or len(suspicious) > seen[0].shape[1] // 2:
        return None
    column, value = next(iter(suspicious.items()))
    return handbook.finding(
        "constant-feature",
        place=seen[0].place,
        step=run.looks[0].step,
        certainty="hint",
        severity="note",
        evidence=(Evidence("column", column), Evidence("its value", value), Evidence("such columns", len(suspicious))),
        chain=(Link(f"column {column} of the input is {value:g} for every sample seen", seen[0].place),),
        fixes=(Fix("drop the column, or find out why it does not vary"),),
    )
