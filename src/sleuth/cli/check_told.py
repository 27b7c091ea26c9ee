"""What `sleuth check` tells at the end: the report, the counts, the changes; and what it writes."""

from __future__ import annotations

import sys
from collections import Counter

from sleuth.cli import files, streams
from sleuth.cli.outlet import Outlet
from sleuth.findings import Finding, Report, exit_status
from sleuth.program import shown_path
from sleuth.report import Aside, edits, wording
from sleuth.source.baseline import Baseline
from sleuth.source.checkup import Outcome, Plan
from sleuth.source.documents import Document
from sleuth.source.mending import CannotWrite, save

CANNOT = 2
# How much of what was left out is named in the last line.
_NAMED = 3


class Telling:
    """Tells outcomes of one plan."""

    def __init__(self, plan: Plan, outlet: Outlet, statistics: bool) -> None:
        self._plan = plan
        self._outlet = outlet
        self._statistics = statistics
        if plan.text is not None and plan.mend and outlet.path is None:
            # Standard output is for the mended text.
            outlet.stream = sys.stderr

    def say_problems(self, outcome: Outcome) -> None:
        for problem in (*outcome.problems, *outcome.given_up):
            streams.complain(problem)

    def report(self, outcome: Outcome) -> int:
        """Write what was mended, tell what is left, and give the exit status."""
        could_not = self._write(outcome) or outcome.unread_named or (outcome.failed and not exit_status(outcome.left))
        closing = self._closing(outcome)
        counts = _counted(outcome.left) if self._statistics else None
        program = " ".join(self._plan.paths) if self._plan.text is None else self._plan.text.name
        report = Report("check", program, outcome.left, CANNOT if could_not else exit_status(outcome.left))
        for_people = self._outlet.format in ("terminal", "concise")
        if for_people and not outcome.left and self._outlet.path is None:
            streams.note(closing)
        elif for_people and counts is not None:
            self._outlet.write("\n".join((*_table(counts, outcome.left), closing)))
        else:
            self._outlet.publish(report, Aside(closing, outcome.problems, counts))
        return report.exit

    def show_changes(self, outcome: Outcome) -> int:
        """The changes as a patch. Nothing is mended, so the status is that of all findings."""
        from sleuth.report import terminal

        changes = "".join(_patch(outcome.before[path], outcome.after[path]) for path in outcome.after)
        if changes:
            self._outlet.write(terminal.diff(changes, colour=self._outlet.colour))
        streams.note(
            f"{_many(len(outcome.made), 'finding')} would be fixed, {_many(len(outcome.left), 'finding')} left"
        )
        return exit_status(outcome.findings)

    def accept(self, outcome: Outcome, baseline: Baseline, path: str) -> int:
        """Put everything found on record, hints too, so that they can be looked at later."""
        from sleuth.source.documents import Lines

        files.write(path, baseline.with_findings(outcome.everything, outcome.files, Lines()), "the baseline")
        streams.note(f"{_many(len(outcome.everything), 'finding')} written to {path}")
        return 0

    def _write(self, outcome: Outcome) -> bool:
        """Write the mended files. True where one could not be."""
        if self._plan.text is not None:
            if self._plan.mend:
                self._print_text(outcome)
            return False
        failed = False
        for path, document in outcome.after.items():
            try:
                save(document, outcome.before[path])
            except CannotWrite as problem:
                streams.complain(str(problem))
                failed = True
        return failed

    def _print_text(self, outcome: Outcome) -> None:
        mended = [document.data() for document in outcome.after.values()]
        sys.stdout.buffer.write(mended[0] if mended else self._plan.text.data if self._plan.text else b"")
        sys.stdout.buffer.flush()

    def _closing(self, outcome: Outcome) -> str:
        """`2 errors, 1 warning, 0 notes in 12 files; 3 fixed; 4 hints (--hints)`"""
        what = wording.summary(outcome.left) if outcome.left else "nothing found"
        safe, others = _fixable(outcome.left)
        parts = [f"{what} in {_many(len(outcome.files) - outcome.unread, 'file')}"]
        parts += [f"{len(outcome.made):,} fixed"] * bool(outcome.made)
        if safe and not self._plan.mend:
            parts.append(f"{safe:,} can be fixed with --fix")
        if others and not self._plan.unsafe:
            parts.append(f"{others:,} {'more' if safe and not self._plan.mend else 'can be fixed'} with --unsafe-fixes")
        parts += [f"{_many(outcome.hints, 'hint')} not shown (--hints)"] * bool(outcome.hints)
        parts += [f"{outcome.known:,} known from the baseline"] * bool(outcome.known)
        parts += [f"{_many(outcome.unread, 'file')} could not be read"] * bool(outcome.unread)
        parts += [f"left out by .gitignore: {_few(outcome.left_out)}"] * bool(outcome.left_out)
        return "; ".join(parts)


def _fixable(findings: tuple[Finding, ...]) -> tuple[int, int]:
    """How many findings have a safe fix, and how many only others."""
    fixes = [[fix.safe for fix in finding.fixes if fix.edits] for finding in findings]
    return sum(any(safe) for safe in fixes), sum(bool(safe) and not any(safe) for safe in fixes)


def _counted(findings: tuple[Finding, ...]) -> dict[str, int]:
    """How often each diagnosis was found, the most frequent first."""
    counts = Counter(finding.diagnosis for finding in findings)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _table(counts: dict[str, int], findings: tuple[Finding, ...]) -> list[str]:
    titles = {finding.diagnosis: finding for finding in reversed(findings)}
    digits = len(str(max(counts.values(), default=0)))
    widest = max(map(len, counts), default=0)
    return [
        f"{count:>{digits}}  {titles[name].severity:<7}  {name:<{widest}}  {_title(name)}".rstrip()
        for name, count in counts.items()
    ]


def _title(diagnosis: str) -> str:
    from sleuth import handbook

    try:
        return handbook.page(diagnosis).title
    except (LookupError, ValueError, OSError):
        return ""


def _patch(before: Document, after: Document) -> str:
    """The change of a file; of a notebook cell by cell, since nobody reads its JSON."""
    was, now = before.pages(), after.pages()
    return "".join(edits.patch(name, was[name], now[name]) for name in was if was[name] != now[name])


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _few(paths: tuple[str, ...]) -> str:
    """The first few, as they are called from here."""
    shown = [wording.posix(shown_path(path)) for path in paths[:_NAMED]]
    return ", ".join([*shown, f"and {len(paths) - _NAMED:,} more"] if len(paths) > _NAMED else shown)
