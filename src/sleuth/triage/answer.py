"""What Sleuth says of a text: its kind, the diagnoses that fit, and what to run next."""

from __future__ import annotations

from dataclasses import dataclass

from sleuth.known_errors import Frame, Recognised

KINDS = (
    "implementation",
    "program-crash",
    "training-anomaly",
    "model-migration",
    "performance",
    "comprehension",
    "installation",
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A page of the handbook that fits, with the reason for it."""

    name: str
    title: str
    why: str
    score: float
    matched: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """How to read it."""
        return f"sleuth explain {self.name}"


@dataclass(frozen=True, slots=True)
class Step:
    """Something to do next."""

    command: str
    why: str


@dataclass(frozen=True, slots=True)
class Answer:
    """`kind` is None where no kind is likely enough to be named; `off_topic` is a text about something else."""

    kind: str | None
    probabilities: dict[str, float]
    diagnoses: tuple[Diagnosis, ...] = ()
    next: tuple[Step, ...] = ()
    signature: Recognised | None = None
    place: Frame | None = None
    off_topic: bool = False
