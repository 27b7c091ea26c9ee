"""Fixes made to files, round by round, until there is nothing left that a machine may fix."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sleuth.findings import Edit, Finding, Fix
from sleuth.notebook import split_name
from sleuth.source.documents import Document
from sleuth.source.engine import Examined
from sleuth.source.runner import merged

# A fix may lay open the next; more rounds than this and they would go on for ever.
_ROUNDS = 25

Examine = Callable[[list[Document], Mapping[str, str]], Mapping[str, Examined]]
Wanted = Callable[[tuple[Finding, ...], Mapping[str, Document]], tuple[Finding, ...]]
Position = tuple[int, int]
Group = tuple[str, str]


class CannotWrite(Exception):
    """A mended file could not be written; `str()` of it is the one line to show."""


@dataclass(frozen=True, slots=True)
class Change:
    """One fix of one finding."""

    finding: Finding
    fix: Fix

    @property
    def group(self) -> Group:
        """What the fix must make less of."""
        return _group(self.finding)

    def __str__(self) -> str:
        place = self.finding.place
        where = "" if place is None else f"{place.path}:{place.line}: "
        return f"{where}{self.finding.diagnosis} was not fixed"


@dataclass(frozen=True, slots=True)
class Mended:
    """The documents after all rounds, what was found in them, which changes were made and which were given up."""

    documents: Mapping[str, Document]
    results: Mapping[str, Examined]
    made: tuple[Change, ...]
    given_up: tuple[str, ...]


class Mender:
    """Makes the fixes of wanted findings. A file that a fix would break, or not help, stays as it was."""

    def __init__(
        self,
        documents: Mapping[str, Document],
        results: Mapping[str, Examined],
        examine: Examine,
        wanted: Wanted,
        unsafe: bool = False,
    ) -> None:
        self._first = documents
        self._documents = dict(documents)
        self._results = dict(results)
        self._examine = examine
        self._wanted = wanted
        self._unsafe = unsafe
        self._made: list[Change] = []
        self._given_up: dict[object, str] = {}
        self._been: dict[str, set[str]] = {path: {document.raw} for path, document in documents.items()}

    def mend(self) -> Mended:
        for _ in range(_ROUNDS):
            while (changes := self._possible()) and not self._round(changes):
                # What did not help has been given up; the others are tried without it.
                continue
            if not changes:
                break
        return Mended(self._documents, self._results, tuple(self._made), tuple(self._given_up.values()))

    def _round(self, changes: list[Change]) -> bool:
        """Make the changes and look again. False where some did not help: then nothing is changed."""
        changes, documents = self._applied(changes)
        if not changes:
            return False
        touched = {path for path, document in documents.items() if document is not self._documents[path]}
        again = [path for path in documents if path in touched or touched & set(self._results[path].dependencies)]
        results = {**self._results, **self._examine([documents[path] for path in again], self._overlay(documents))}
        if not self._all_helped(changes, documents, results, touched):
            return False
        self._documents, self._results = documents, results
        self._made += changes
        for path in touched:
            self._been[path].add(documents[path].raw)
        return True

    def _overlay(self, documents: Mapping[str, Document]) -> dict[str, str]:
        """What has changed and is not on the disk: the files that import it must see it."""
        return {path: one.text for path, one in documents.items() if one is not self._first[path]}

    def _all_helped(
        self,
        changes: Sequence[Change],
        documents: Mapping[str, Document],
        results: Mapping[str, Examined],
        touched: Iterable[str],
    ) -> bool:
        before = self._counted(self._results, self._documents)
        after = self._counted(results, documents)
        back = {documents[path].shown for path in touched if documents[path].raw in self._been[path]}
        useless = [
            change for change in changes if after[change.group] >= before[change.group] or change.group[1] in back
        ]
        for change in useless:
            self._give_up(change, f"{change}: {change.fix.title!r} did not help")
        return not useless

    def _counted(self, results: Mapping[str, Examined], documents: Mapping[str, Document]) -> Counter[Group]:
        return Counter(map(_group, self._wanted(merged(results.values()), documents)))

    def _possible(self) -> list[Change]:
        """One change a finding, those that overlap with an earlier one left for the next round."""
        chosen: list[Change] = []
        taken: dict[str, list[Edit]] = {}
        for finding in self._wanted(merged(self._results.values()), self._documents):
            change = self._change(finding)
            if change is None:
                continue
            if all(_is_free(edit, taken.get(edit.path, ())) for edit in change.fix.edits):
                chosen.append(change)
                for edit in change.fix.edits:
                    taken.setdefault(edit.path, []).append(edit)
        return chosen

    def _change(self, finding: Finding) -> Change | None:
        """The first fix of a finding that may be made."""
        for fix in finding.fixes:
            change = Change(finding, fix)
            if (
                fix.edits
                and (fix.safe or self._unsafe)
                and self._identity(change) not in self._given_up
                and all(_file(edit) in self._documents for edit in fix.edits)
            ):
                return change
        return None

    def _applied(self, changes: list[Change]) -> tuple[list[Change], dict[str, Document]]:
        """The documents with the changes, and those changes that leave every file valid."""
        documents = self._with(changes)
        if documents is not None:
            return changes, documents
        good: list[Change] = []
        documents = self._documents
        for change in changes:
            changed = self._with([*good, change])
            if changed is None:
                self._give_up(change, f"{change}: {change.fix.title!r} would leave a file that Python cannot read")
            else:
                good.append(change)
                documents = changed
        return good, documents

    def _with(self, changes: Iterable[Change]) -> dict[str, Document] | None:
        edits: dict[str, dict[Edit, None]] = {}
        for change in changes:
            for edit in change.fix.edits:
                edits.setdefault(_file(edit), {})[edit] = None
        documents = dict(self._documents)
        for path, group in edits.items():
            edited = documents[path].edited(group)
            if edited is None:
                return None
            documents[path] = edited
        return documents

    def _give_up(self, change: Change, why: str) -> None:
        self._given_up[self._identity(change)] = why

    def _identity(self, change: Change) -> object:
        """The same change after lines above it were added or removed."""
        place = change.finding.place
        where = None if place is None else (place.path, place.column, place.code)
        return change.finding.diagnosis, where, change.fix.title


def _group(finding: Finding) -> Group:
    """A diagnosis in a file."""
    return finding.diagnosis, "" if finding.place is None else split_name(finding.place.path)[0]


def _file(edit: Edit) -> str:
    return os.path.abspath(split_name(edit.path)[0])


def _is_free(edit: Edit, taken: Sequence[Edit]) -> bool:
    """Neither overlaps nor touches another; the very same edit, an import say, is made once for both."""
    return all(
        edit == other
        or (edit.end_line, edit.end_column) < (other.line, other.column)
        or (other.end_line, other.end_column) < (edit.line, edit.column)
        for other in taken
    )


def save(document: Document, was: Document) -> None:
    """Write a mended document over its file in one go. Raises CannotWrite."""
    path = os.path.realpath(document.path)
    draft = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{os.getpid()}.part")
    try:
        with open(path, "rb") as file:
            if file.read() != was.data():
                raise CannotWrite(f"{document.shown} was not written: it has changed meanwhile")
        if not os.access(path, os.W_OK):
            raise CannotWrite(f"{document.shown} was not written: permission denied")
        about = os.stat(path)
        try:
            with open(draft, "xb") as file:
                file.write(document.data())
            os.chmod(draft, stat.S_IMODE(about.st_mode))
            os.replace(draft, path)
        finally:
            if os.path.exists(draft):
                os.unlink(draft)
    except OSError as error:
        raise CannotWrite(f"{document.shown} was not written: {error.strerror}") from None
