"""What every engine finds and every report shows: plain frozen data, and its JSON form (schema 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

SCHEMA = 1

Certainty = Literal["certain", "likely", "hint"]
Severity = Literal["error", "warning", "note"]
Kind = Literal[
    "implementation",
    "program-crash",
    "training-anomaly",
    "model-migration",
    "performance",
    "comprehension",
    "installation",
]
RootCause = Literal[
    "invalid-range",
    "api-misuse",
    "data-preprocessing",
    "floating-point-type",
    "code-logic",
    "gradient-explosion",
    "bad-input",
    "model-configuration",
    "hyperparameter",
    "runtime-environment",
    "api-change",
    "unaligned-tensor",
    "type-mismatch",
    "device-mismatch",
    "structure-inefficiency",
    "computation-model",
    "inter-api",
]
Stage = Literal[
    "data-processing",
    "model-setting",
    "model-training",
    "model-prediction",
    "model-evaluation",
    "runtime-environment",
    "visualization",
]
Effect = Literal[
    "crash", "bad-performance", "incorrect-functionality", "data-corruption", "hang", "out-of-memory", "nan"
]
Value = str | int | float | bool | None | tuple["Value", ...]


def _settled(value: Any) -> Any:
    """The value as JSON can carry it: NaN and infinities as words, lists as tuples, so that a round trip is exact."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, list | tuple):
        return tuple(_settled(item) for item in value)
    return value


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of the user's source. Lines and columns count from 1; `path` is relative to where the command ran."""

    path: str
    line: int
    column: int | None = None
    end_line: int | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """One measured fact, e.g. `input minimum = 0.0`."""

    name: str
    value: Value

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _settled(self.value))


@dataclass(frozen=True, slots=True)
class Link:
    """One sentence of the story that leads to the finding, and the line it speaks of."""

    what: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text between two positions (1-based, the end exclusive) of a file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Fix:
    """What to change. `verified`: an experiment confirmed it. `safe`: `sleuth check --fix` applies it unasked."""

    title: str
    edits: tuple[Edit, ...] = ()
    verified: bool = False
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One occurrence of a diagnosis in the user's program."""

    diagnosis: str
    title: str
    certainty: Certainty
    severity: Severity
    kind: Kind
    root_cause: RootCause
    stage: Stage
    effect: Effect
    place: Place | None = None
    step: int | None = None
    rank: int | None = None
    evidence: tuple[Evidence, ...] = ()
    chain: tuple[Link, ...] = ()
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """What one command found in one program."""

    command: str
    program: str
    findings: tuple[Finding, ...] = ()
    exit: int = field(default=-1)

    def __post_init__(self) -> None:
        if self.exit == -1:
            object.__setattr__(self, "exit", exit_status(self.findings))

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "command": self.command,
            "program": self.program,
            "exit": self.exit,
            "findings": [finding_to_json(finding) for finding in self.findings],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        if data.get("schema") != SCHEMA:
            raise ValueError(f"this report has schema {data.get('schema')!r}; Sleuth reads schema {SCHEMA}")
        return cls(
            command=data["command"],
            program=data["program"],
            findings=tuple(finding_from_json(finding) for finding in data["findings"]),
            exit=data["exit"],
        )


def exit_status(findings: tuple[Finding, ...]) -> int:
    """1 where anything of severity error or warning was found, else 0."""
    return int(any(finding.severity in ("error", "warning") for finding in findings))


def finding_to_json(finding: Finding) -> dict[str, Any]:
    plain = {f.name: getattr(finding, f.name) for f in fields(Finding)}
    plain["place"] = place_to_json(finding.place)
    plain["evidence"] = [{"name": item.name, "value": _listed(item.value)} for item in finding.evidence]
    plain["chain"] = [{"place": place_to_json(link.place), "what": link.what} for link in finding.chain]
    plain["fixes"] = [
        {
            "title": fix.title,
            "edits": [{f.name: getattr(edit, f.name) for f in fields(Edit)} for edit in fix.edits],
            "verified": fix.verified,
            "safe": fix.safe,
        }
        for fix in finding.fixes
    ]
    return plain


def finding_from_json(data: Mapping[str, Any]) -> Finding:
    for name, allowed in (
        ("certainty", Certainty),
        ("severity", Severity),
        ("kind", Kind),
        ("root_cause", RootCause),
        ("stage", Stage),
        ("effect", Effect),
    ):
        if data[name] not in get_args(allowed):
            raise ValueError(f"{name} {data[name]!r} is not one of {', '.join(get_args(allowed))}")
    plain = {f.name: data[f.name] for f in fields(Finding)}
    plain["place"] = place_from_json(data["place"])
    plain["evidence"] = tuple(Evidence(item["name"], item["value"]) for item in data["evidence"])
    plain["chain"] = tuple(Link(link["what"], place_from_json(link["place"])) for link in data["chain"])
    plain["fixes"] = tuple(
        Fix(fix["title"], tuple(Edit(**edit) for edit in fix["edits"]), fix["verified"], fix.get("safe", False))
        for fix in data["fixes"]
    )
    return Finding(**plain)


def place_to_json(place: Place | None) -> dict[str, Any] | None:
    return None if place is None else {f.name: getattr(place, f.name) for f in fields(Place)}


def place_from_json(data: Mapping[str, Any] | None) -> Place | None:
    return None if data is None else Place(**data)


def _listed(value: Value) -> Any:
    return [_listed(item) for item in value] if isinstance(value, tuple) else value
