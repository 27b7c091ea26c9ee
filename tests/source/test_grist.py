"""The bugs of the GRIST collection, re-written: nearly all are found at their line, and none in the mended twins."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from sleuth.findings import Finding
from sleuth.source.engine import Unit, examine
from sleuth.source.project import Project

FOLDER = Path(__file__).parent / "grist"
LOGS = {"log-of-softmax", "log-of-sigmoid", "log-of-zero", "hand-written-binary-cross-entropy", "absorbed-epsilon"}
GRADIENTS = {"norm-gradient-at-zero", "sqrt-gradient-at-zero", "std-gradient-at-zero", "division-by-zero"}
HAND_WRITTEN = {"hand-written-softmax", "hand-written-softplus", "hand-written-logsumexp", "exp-overflow"}
NUMERICS = frozenset(LOGS | GRADIENTS | HAND_WRITTEN | {"clamp-after-exp", "rsqrt-of-zero", "log1p-out-of-range"})
EXPECTED = {
    "log_of_softmax_graph": {"log-of-softmax"},
    "log_of_softmax_eager": {"log-of-softmax"},
    "binary_cross_entropy": LOGS,
    "softmax_by_hand": {"hand-written-softmax"},
    "absorbed_epsilon": {"absorbed-epsilon"},
    "root_of_exp": {"exp-overflow"},
    "softplus_by_hand": {"hand-written-softplus"},
    "division_by_scale": {"division-by-zero"},
    "other": {"hand-written-logsumexp", "log-of-zero", "norm-gradient-at-zero"},
}
AT_LEAST = 75


class Program:
    """A buggy program, the line that is wrong, and its mended twin."""

    def __init__(self, family: str, name: str, lines: list[str]) -> None:
        self.family = family
        self.name = name
        buggy = [line for line in lines if line[:1] != "+"]
        self.line = next(number for number, line in enumerate(buggy, 1) if line[:1] == "!")
        self.buggy = "\n".join(line[1:] for line in buggy) + "\n"
        self.mended = "\n".join(line[1:] for line in lines if line[:1] not in ("-", "!")) + "\n"


def programs() -> list[Program]:
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text("utf-8").split("=== ")[1:]:
            name, *lines = part.rstrip("\n").split("\n")
            found.append(Program(path.stem, name, lines))
    return found


PROGRAMS = programs()
each = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)


def findings(text: str) -> tuple[Finding, ...]:
    result = examine(Unit("/nowhere/program.py", text, "program.py"), Project(Path("/nowhere")), select=NUMERICS)
    assert result.problem is None
    assert not result.broken
    return result.findings


def is_found(program: Program) -> bool:
    """Named at its line, by a finding that is shown without asking for hints."""
    return any(
        finding.place is not None
        and finding.place.line == program.line
        and finding.diagnosis in EXPECTED[program.family]
        and finding.severity != "note"
        for finding in findings(program.buggy)
    )


def test_the_programs_are_as_many_and_as_mixed_as_the_collections() -> None:
    counted = {family: sum(program.family == family for program in PROGRAMS) for family in EXPECTED}
    assert counted.pop("log_of_softmax_graph") + counted.pop("log_of_softmax_eager") == 40
    assert list(counted.values()) == [11, 7, 5, 5, 4, 4, 3]


@each
def test_a_program_and_its_twin_are_python(program: Program) -> None:
    ast.parse(program.buggy)
    ast.parse(program.mended)


def test_nearly_all_bugs_are_found_at_their_line(capsys: pytest.CaptureFixture[str]) -> None:
    missed = [program.name for program in PROGRAMS if not is_found(program)]
    with capsys.disabled():
        print(f"\nfound {len(PROGRAMS) - len(missed)} of {len(PROGRAMS)}; missed: {', '.join(missed) or 'none'}")
    assert len(PROGRAMS) - len(missed) >= AT_LEAST


@each
def test_the_mended_twin_gets_not_even_a_hint(program: Program) -> None:
    assert [(finding.diagnosis, finding.place) for finding in findings(program.mended)] == []
