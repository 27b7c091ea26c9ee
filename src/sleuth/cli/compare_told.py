"""What `sleuth compare` says besides its findings: the verdict in a line, the deployments in a table."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sleuth.compare.deployments import Row
    from sleuth.compare.session import Session
    from sleuth.compare.training import Training
    from sleuth.compare.verdict import Verdict

_MOST_NOTES = 8


def lines(verdict: Verdict) -> list[str]:
    """The first is the most important."""
    told: list[str] = []
    if verdict.session is not None:
        told += _session(verdict.session)
    if verdict.training is not None:
        told += _training(verdict.training)
    if verdict.rows:
        told += _table(verdict.rows)
    notes = verdict.notes[:_MOST_NOTES]
    more = len(verdict.notes) - len(notes)
    told += [f"  left out: {note}" for note in notes]
    return [*told, f"  and {more} more left out"] if more > 0 else told


def _session(session: Session) -> Iterator[str]:
    from sleuth.compare.metrics import all_measured
    from sleuth.compare.precision import is_full
    from sleuth.compare.scores import LIMIT

    done = session.comparison
    tried = [one for one in session.tried if one.scores is not None]
    names = f"{done.target.title} ({done.target.runtime}) and {done.reference.title} ({done.reference.runtime})"
    verdict = "agree" if session.same else "do not agree"
    full = is_full(done.target.precision)
    noise = "float32" if full else done.target.precision
    yield (
        f"sleuth: {names} {verdict}: on {len(tried)} input{'s' * (len(tried) != 1)} "
        f"at most {session.worst.worst:.3g} times the noise of {noise} apart (up to {LIMIT:g} is no difference)"
    )
    if len(tried) > 1 and not session.same:
        yield f"  most on the input “{session.worst.sample.label}”"
    for place, metrics in enumerate(all_measured(done.truth, done.answers)):
        if metrics is None:
            continue
        number = f" {place}" if len(done.truth) > 1 else ""
        argmax = "" if metrics.argmax is None else f", the same class at {metrics.argmax:.1%} of {metrics.positions:,}"
        change = f"{metrics.largest_change:.3g} ({metrics.relative_change:.2g} relative)"
        yield f"  output{number}: largest change {change}{argmax}"
    yield f"  {len(done.steps)} values along the way could be compared"


def _training(done: Training) -> Iterator[str]:
    gradients = [one.gradient.score for one in done.weights if one.gradient is not None]
    after = [one.after.score for one in done.weights]
    verdict = "agrees" if done.same else "does not agree"
    yield (
        f"  training {verdict}: {len(gradients)} gradients at most {max(gradients, default=0.0):.3g} times the noise "
        f"apart, {len(after)} weights and statistics after a step at most {max(after, default=0.0):.3g}"
    )
    if done.unpaired:
        yield f"  without a partner that holds the same numbers: {', '.join(done.unpaired[:6])}"


def _table(rows: list[Row]) -> list[str]:
    from sleuth.amounts import in_bytes

    head = ("deployment", "verdict", "noise", "argmax", "time", "size")
    body = [
        (
            row.name,
            row.verdict,
            "" if row.score is None else f"{row.score:.3g} x",
            "" if row.agreement is None else f"{row.agreement:.1%}",
            "" if row.latency is None else f"{row.latency.ratio:.2f} x",
            "" if row.size is None else in_bytes(row.size),
        )
        for row in rows
    ]
    widths = [max(len(line[column]) for line in (head, *body)) for column in range(len(head))]
    told = ["  ".join(cell.ljust(width) for cell, width in zip(head, widths, strict=True)).rstrip()]
    for line, row in zip(body, rows, strict=True):
        told.append("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        told += [f"    {remark}" for remark in _remarks(row)]
    return told


def _remarks(row: Row) -> Iterator[str]:
    if row.reason:
        yield row.reason
    if row.left_in_float:
        yield f"left in float: {', '.join(row.left_in_float[:6])}"
    yield from row.notes


def facts(verdict: Verdict) -> dict[str, Any]:
    """The same for a program to read, and for the page."""
    from sleuth.compare.facts import facts as facts_of
    from sleuth.compare.facts import facts_of_comparison, facts_of_row

    if verdict.session is not None:
        return {"comparison": {**facts_of(verdict.session), "notes": verdict.notes}}
    return {
        "deployments": [facts_of_row(row) for row in verdict.rows],
        "comparisons": [facts_of_comparison(row.comparison) for row in verdict.rows if row.comparison is not None],
    }
