"""One `sleuth check`: the files found, examined, mended where that was asked for, and what is left to tell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sleuth import program
from sleuth.findings import Finding
from sleuth.source import documents, files, runner
from sleuth.source.baseline import Baseline
from sleuth.source.documents import Document, Lines, Unreadable
from sleuth.source.engine import Examined
from sleuth.source.ignoring import Patterns
from sleuth.source.mending import Change, Mender
from sleuth.source.runner import Checked, Progress, Request
from sleuth.source.selection import Selection, is_hint


@dataclass(frozen=True, slots=True)
class Text:
    """A text to check that is in no file, or not yet: as an editor pipes it. `name` says where it would be."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Plan:
    """What to check, and how."""

    paths: tuple[str, ...] = (".",)
    text: Text | None = None
    exclude: tuple[Patterns, ...] = ()
    exclude_named: bool = False
    request: Request = field(default_factory=Request)
    selection: Selection = field(default_factory=Selection)
    hints: bool = False
    baseline: Baseline | None = None
    mend: bool = False
    unsafe: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What there is to tell. `before` and `after` hold the documents that were mended; nothing is written yet."""

    files: tuple[str, ...]
    everything: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    left: tuple[Finding, ...]
    hints: int
    known: int
    problems: tuple[str, ...]
    unread: int
    unread_named: bool
    failed: bool
    watched: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    made: tuple[Change, ...] = ()
    given_up: tuple[str, ...] = ()
    before: Mapping[str, Document] = field(default_factory=dict)
    after: Mapping[str, Document] = field(default_factory=dict)


def check(plan: Plan, progress: Progress = lambda done, total: None) -> Outcome:
    """Carry out a plan. Raises files.NoSuchPath, or Unreadable for a text."""
    at_hand: dict[str, Document] = {}
    left_out: tuple[str, ...] = ()
    if plan.text is None:
        found = files.survey(plan.paths, plan.exclude, also_named=plan.exclude_named)
        left_out = found.left_out
        checked = runner.check(found.files, plan.request, progress)
    else:
        checked, at_hand = _text_checked(plan.text, plan.request)
    outcome = replace(_told(plan, checked, at_hand), left_out=left_out)
    if not plan.mend or not any(fix.edits for finding in outcome.findings for fix in finding.fixes):
        return outcome
    return _mended(plan, checked, at_hand or _read(checked), outcome)


def _text_checked(text: Text, request: Request) -> tuple[Checked, dict[str, Document]]:
    path = os.path.abspath(text.name)
    document = documents.from_bytes(text.data, path, program.shown_path(path))
    request = replace(request, overlay={path: document.text})
    return Checked({one.path: found for one, found in runner.examine([document], request)}), {path: document}


def _told(plan: Plan, checked: Checked, at_hand: Mapping[str, Document]) -> Outcome:
    everything = plan.selection.wanted(checked.findings, checked.results)
    visible = _visible(plan, everything)
    new = _new(plan, visible, at_hand)
    unread = [path for path, result in checked.results.items() if result.problem is not None]
    return Outcome(
        files=tuple(checked.results),
        everything=everything,
        findings=new,
        left=new,
        hints=len(everything) - len(visible),
        known=len(visible) - len(new),
        problems=checked.problems,
        failed=checked.failed,
        unread=len(unread),
        unread_named=bool(unread) if plan.text is not None else not _named(plan).isdisjoint(unread),
        watched=tuple({*checked.results, *(path for one in checked.results.values() for path in one.dependencies)}),
    )


def _named(plan: Plan) -> set[str]:
    return set(map(os.path.abspath, plan.paths))


def _visible(plan: Plan, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    return findings if plan.hints else tuple(finding for finding in findings if not is_hint(finding))


def _new(plan: Plan, findings: tuple[Finding, ...], at_hand: Mapping[str, Document]) -> tuple[Finding, ...]:
    return findings if plan.baseline is None else plan.baseline.new(findings, Lines(at_hand))


def _read(checked: Checked) -> dict[str, Document]:
    """The documents that could be read, and can be written as they were: a strange encoding may not be."""
    found: dict[str, Document] = {}
    for path, result in checked.results.items():
        if result.problem is None:
            try:
                document = documents.read(path, program.shown_path(path))
                if documents.is_faithful(document):
                    found[path] = document
            except Unreadable:
                continue
    return found


def _mended(plan: Plan, checked: Checked, first: Mapping[str, Document], outcome: Outcome) -> Outcome:
    def examine(again: list[Document], overlay: Mapping[str, str]) -> dict[str, Examined]:
        request = replace(plan.request, overlay={**plan.request.overlay, **overlay})
        return {document.path: found for document, found in runner.examine(again, request)}

    def wanted(findings: tuple[Finding, ...], at_hand: Mapping[str, Document]) -> tuple[Finding, ...]:
        return _new(plan, _visible(plan, plan.selection.wanted(findings, checked.results)), at_hand)

    mended = Mender(first, checked.results, examine, wanted, plan.unsafe).mend()
    changed = [path for path, document in mended.documents.items() if document is not first[path]]
    last = _told(plan, Checked(mended.results), mended.documents)
    return replace(
        last,
        findings=outcome.findings,
        left_out=outcome.left_out,
        made=mended.made,
        given_up=mended.given_up,
        before={path: first[path] for path in changed},
        after={path: mended.documents[path] for path in changed},
    )
