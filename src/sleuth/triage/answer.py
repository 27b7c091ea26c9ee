"""What Sleuth says of a text: its kind, the diagnoses that fit, and what to run next."""

from __future__ import annotations

from dataclasses import dataclass

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
class Frame:
    """A line of the user's own that a traceback names."""

    path: str
    line: int
    function: str = ""


@dataclass(frozen=True, slots=True)
class Recognised:
    """An error message that is known, in the very words that stand in the text."""

    name: str
    framework: str
    matched: str
    why: str
    certainty: str


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
    """`kind` is None where no kind is likely enough to be named."""

    kind: str | None
    probabilities: dict[str, float]
    diagnoses: tuple[Diagnosis, ...] = ()
    next: tuple[Step, ...] = ()
    signature: Recognised | None = None
    place: Frame | None = None
