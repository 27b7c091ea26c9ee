"""Findings that are known and accepted, so that only new ones are told: old code can be checked from today on."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from sleuth.findings import Finding
from sleuth.notebook import split_name
from sleuth.source.documents import Lines

SCHEMA = 1
# Diagnosis, file, and what is written on the line: a line that moves is still known.
Known = tuple[str, str, str]


class BadBaseline(Exception):
    """The file is no baseline; `str()` of it is the one line to show."""


class Baseline:
    """The known findings, counted. Paths in the file start at its own folder."""

    def __init__(self, path: str, known: Counter[Known] | None = None) -> None:
        self._folder = os.path.dirname(os.path.abspath(path))
        self._known = known or Counter()

    def new(self, findings: Iterable[Finding], lines: Lines) -> tuple[Finding, ...]:
        """The findings that are not known, or are more than were known."""
        left = Counter(self._known)
        unknown: list[Finding] = []
        for finding in findings:
            known = self._told(finding, lines)
            if left[known] > 0:
                left[known] -= 1
            else:
                unknown.append(finding)
        return tuple(unknown)

    def with_findings(self, findings: Iterable[Finding], checked: Collection[str], lines: Lines) -> str:
        """The text of the file that knows these findings, and the old ones of files that were not checked."""
        looked_at = {self._relative(path) for path in checked}
        kept = Counter({known: n for known, n in self._known.items() if self._is_kept(known[1], looked_at)})
        kept.update(self._told(finding, lines) for finding in findings)
        told = [
            {"diagnosis": diagnosis, "path": path, "line": line, "count": count}
            for (diagnosis, path, line), count in sorted(kept.items(), key=lambda item: (item[0][1], item[0]))
        ]
        return json.dumps({"schema": SCHEMA, "findings": told}, indent=1, ensure_ascii=False) + "\n"

    def _is_kept(self, path: str, looked_at: Collection[str]) -> bool:
        return path not in looked_at and os.path.exists(os.path.join(self._folder, path))

    def _told(self, finding: Finding, lines: Lines) -> Known:
        if finding.place is None:
            return finding.diagnosis, "", ""
        file, cell = split_name(finding.place.path)
        written = lines.at(os.path.abspath(file), cell, finding.place.line) or finding.place.code or ""
        return finding.diagnosis, self._relative(file), " ".join(written.split())

    def _relative(self, path: str) -> str:
        return os.path.relpath(os.path.abspath(path), self._folder).replace(os.sep, "/")


def load(path: str) -> Baseline:
    """The baseline in a file. Raises BadBaseline."""
    try:
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    except FileNotFoundError:
        raise BadBaseline(f"{path}: no such baseline; --write-baseline makes it") from None
    except OSError as error:
        raise BadBaseline(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise BadBaseline(f"{path} is not a baseline: it is not valid JSON") from None
    if not isinstance(told, dict) or told.get("schema") != SCHEMA:
        raise BadBaseline(f"{path} is not a baseline that this version reads: it has no schema {SCHEMA}")
    try:
        return Baseline(path, Counter(dict(map(_known, told["findings"]))))
    except (KeyError, TypeError, ValueError):
        raise BadBaseline(f"{path} is not a baseline: its findings are not as --write-baseline writes them") from None


def _known(told: Any) -> tuple[Known, int]:
    known = told["diagnosis"], told["path"], told["line"]
    if not all(isinstance(text, str) for text in known):
        raise ValueError("not a text")
    return known, int(told["count"])
