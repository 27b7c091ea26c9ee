"""One model against all forms in which it may be deployed: the same answers? how fast, how large, really quantised?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from sleuth.compare import fit
from sleuth.compare.comparison import Comparison, compare_on
from sleuth.compare.latency import Latency, latency
from sleuth.compare.metrics import Metrics, all_measured
from sleuth.compare.precision import is_full
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Batch
from sleuth.compare.variants import NAMES, variant

Verdict = Literal["same", "same for its format", "differs", "not made"]


@dataclass(frozen=True, slots=True)
class Row:
    """One deployment. `reason` says why it could not be made, or not be compared; all that is not known is None."""

    name: str
    verdict: Verdict
    runtime: str = ""
    precision: str = ""
    score: float | None = None
    metrics: Metrics | None = None
    latency: Latency | None = None
    size: int | None = None
    size_ratio: float | None = None
    left_in_float: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    reason: str = ""
    comparison: Comparison | None = None

    @property
    def slower(self) -> bool:
        return self.latency is not None and self.latency.slower

    @property
    def agreement(self) -> float | None:
        """The share of positions at which it chooses the same class."""
        return self.metrics.argmax if self.metrics is not None else None


def deploy(
    side: Side, names: Iterable[str], batch: Batch, told: Callable[[str], None] = lambda name: None
) -> list[Row]:
    """A row each, as asked for; one that cannot be had does not stop the others. `told` hears of each as it begins."""
    asked = list(dict.fromkeys(names))
    unknown = [name for name in asked if name not in NAMES]
    if unknown:
        raise CannotCompare(f"there is no variant called {unknown[0]}; there are {', '.join(NAMES)}")
    rows = []
    for name in asked:
        told(name)
        rows.append(_row(side, name, batch))
    return rows


def _row(side: Side, name: str, batch: Batch) -> Row:
    try:
        target = variant(side, name, batch)
    except Exception as problem:  # a library's own failure is this row's, not the table's
        return Row(name, "not made", reason=_one_line(problem))
    try:
        return _compared(side, target, name, batch)
    except Exception as problem:
        return Row(name, "not made", target.runtime, target.precision, reason=_one_line(problem))
    finally:
        target.close()


def _compared(side: Side, target: Side, name: str, batch: Batch) -> Row:
    done = compare_on(side, target, batch)
    metrics = next((one for one in all_measured(done.truth, done.answers) if one is not None), None)
    size, own = target.size, side.size
    return Row(
        name,
        _verdict(done),
        target.runtime,
        target.precision,
        max((one.score for one in done.outputs), default=0.0),
        metrics,
        latency(target, side, fit.to(target, side, batch), batch),
        size,
        size / own if size and own else None,
        target.left_in_float,
        target.notes,
        target.defects,
        comparison=done,
    )


def _verdict(done: Comparison) -> Verdict:
    if not done.same:
        return "differs"
    return "same" if is_full(done.target.precision) else "same for its format"


def _one_line(problem: Exception) -> str:
    if isinstance(problem, CannotCompare):
        return str(problem)
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return f"{type(problem).__name__}: {lines[0]}" if lines else type(problem).__name__
