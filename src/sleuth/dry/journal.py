"""What a rehearsal has learnt, on disk as it learns it: an abort, a hang or a kill loses nothing of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from sleuth.findings import Finding, Place, finding_from_json, finding_to_json, place_from_json, place_to_json


class Journal:
    """One JSON object a line, each with its `kind`."""

    def __init__(self, path: Path) -> None:
        # Not `open`, which is pretended while the program runs.
        self._file = FileIO(str(path), "a")
        self.assumptions: Counter[tuple[Place | None, str]] = Counter()
        self.kept_off: Counter[tuple[str, str]] = Counter()
        self.findings: list[Finding] = []

    def write(self, kind: str, **content: Any) -> None:
        self._file.write((json.dumps({"kind": kind, **content}) + "\n").encode())

    def finding(self, finding: Finding) -> None:
        """Note a finding, once for each line it is true of."""
        if any((old.diagnosis, old.place) == (finding.diagnosis, finding.place) for old in self.findings):
            return
        self.findings.append(finding)
        self.write("finding", finding=finding_to_json(finding))

    def assume(self, place: Place | None, what: str) -> None:
        """Note what was taken for granted at a line: `.item() assumed 1.0`, `loop left after 2 of 100 rounds`."""
        if (place, what) not in self.assumptions:
            self.write("assumption", place=place_to_json(place), what=what)
        self.assumptions[place, what] += 1

    def keep_off(self, act: str, what: str) -> None:
        """Note what the program wanted to change outside: `("write", "out/model.pt")`, `("network", host)`."""
        if (act, what) not in self.kept_off:
            self.write("kept-off", act=act, what=what)
        self.kept_off[act, what] += 1

    def close(self) -> None:
        """Last words: how often each assumption was made."""
        for (place, what), times in self.assumptions.items():
            if times > 1:
                self.write("times", place=place_to_json(place), what=what, times=times)
        self._file.close()


@dataclass(frozen=True, slots=True)
class Assumption:
    place: Place | None
    what: str
    times: int = 1


@dataclass
class Outcome:
    """All that a journal tells."""

    findings: list[Finding] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    kept_off: list[tuple[str, str]] = field(default_factory=list)
    # "ended", "raised", "too expensive", "out of time", "cannot go on", or "died" where nothing was said.
    how: str = "died"
    # Everything else that was noted, the last of each kind: memory, table, ...
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    # The last lines of its standard error, where the program ended by itself.
    last_words: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    @property
    def end(self) -> dict[str, Any]:
        """What was noted at the end: how it was, where, why."""
        return self.notes.get("ended", {})

    @property
    def acts(self) -> dict[str, int]:
        """How often the program did what, e.g. step."""
        acts: dict[str, int] = self.end.get("acts", {})
        return acts


def read(path: Path) -> Outcome:
    outcome = Outcome()
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:  # the last line of a process that was killed
            continue
        kind = entry.pop("kind")
        if kind == "finding":
            outcome.findings.append(finding_from_json(entry["finding"]))
        elif kind == "assumption":
            outcome.assumptions.append(Assumption(place_from_json(entry["place"]), entry["what"]))
        elif kind == "times":
            one = Assumption(place_from_json(entry["place"]), entry["what"], entry["times"])
            outcome.assumptions = [
                one if (old.place, old.what) == (one.place, one.what) else old for old in outcome.assumptions
            ]
        elif kind == "kept-off":
            outcome.kept_off.append((entry["act"], entry["what"]))
        elif kind == "ended":
            outcome.how = entry["how"]
            outcome.notes["ended"] = entry
        else:
            outcome.notes[kind] = entry
    return outcome
