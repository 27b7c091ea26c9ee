"""What is to be said of a model's deployments: those that differ, those not really quantised, those that got slower."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import torch

from sleuth import handbook
from sleuth.compare.deployments import Row
from sleuth.compare.side import Side
from sleuth.compare.tell import findings
from sleuth.findings import Evidence, Finding, Fix, Link

_MOST_NAMES = 6
_MEANT_TO_BE_SLOW = "float64"


def findings_of_rows(side: Side, rows: Sequence[Row]) -> Iterator[Finding]:
    for row in rows:
        if row.comparison is not None and row.verdict == "differs":
            yield from findings(row.comparison)
        yield from (_stumbled(side, row, defect) for defect in row.defects)
        if row.left_in_float:
            yield _left_in_float(side, row)
        if row.slower and row.latency is not None and row.name != _MEANT_TO_BE_SLOW:
            yield _slower(side, row)


def _stumbled(side: Side, row: Row, defect: str) -> Finding:
    what, _, remedy = defect.partition("; ")
    return handbook.finding(
        "quantiser-fails-on-export",
        title=f"{row.name} of {side.title}: {what}",
        place=None,
        severity="warning",
        fixes=[Fix(remedy)] if remedy else (),
    )


def _left_in_float(side: Side, row: Row) -> Finding:
    names = list(row.left_in_float)
    more = len(names) - _MOST_NAMES
    told = ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
    return handbook.finding(
        "layers-left-in-float",
        title=f"{row.name} of {side.title} leaves {len(names)} layer{'s' * (len(names) != 1)} in float: {told}",
        place=None,
        severity="warning",
        evidence=list(_sizes(row)),
        chain=[Link(f"{name} still holds float weights") for name in names[:_MOST_NAMES]],
        fixes=[Fix("quantise these layers by another way, or say that they stay in float on purpose")],
    )


def _slower(side: Side, row: Row) -> Finding:
    """A hint, whatever the ratio: another machine, or this one with nothing else to do, may be of another mind."""
    took = row.latency
    assert took is not None
    return handbook.finding(
        "slower-after-conversion",
        title=f"{row.name} of {side.title} takes {took.ratio:.1f} times as long here as the model itself",
        place=None,
        certainty="hint",
        severity="note",
        evidence=[
            Evidence("time, relative to the model", float(f"{took.ratio:.3g}")),
            Evidence("in nine of ten turns more than", float(f"{took.mostly:.3g}")),
            Evidence("measured", f"{took.turns} calls of each by turns, in this process, {_threads()}"),
            *_sizes(row),
        ],
        fixes=[Fix("measure it on the machine where it will run, and keep the form that is fastest there")],
    )


def _threads() -> str:
    threads = torch.get_num_threads()
    return f"on {threads} thread{'s' if threads > 1 else ''} of a machine with {os.cpu_count()} cores"


def _sizes(row: Row) -> Iterable[Evidence]:
    if row.size_ratio is not None:
        yield Evidence("size, relative to the model", float(f"{row.size_ratio:.3g}"))
