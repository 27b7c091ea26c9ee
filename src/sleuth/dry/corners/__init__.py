"""Corners a plain rehearsal does not get to, one a file. Each is a small re-run of the program with one thing changed.

TITLE                            when it happens, as the end of a sentence: "with a batch of one sample"
scenario(plain, outcome)         the re-run, given the plain rehearsal and what came of it; None if it is pointless
install(stage)                   what is changed in the process that holds it (optional)
told(finding)                    the finding as it is told of this corner; None to keep it back"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

from sleuth.findings import Evidence, Finding

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def names() -> list[str]:
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def module(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")


def install(stage: Stage) -> None:
    """Change what the scenario's corner changes."""
    if stage.scenario.corner:
        change = getattr(module(stage.scenario.corner), "install", None)
        if change is not None:
            change(stage)


def titled(finding: Finding, when: str) -> Finding:
    """The finding with the corner it was found in."""
    return replace(finding, title=f"{finding.title} ({when})", evidence=(Evidence("happens", when), *finding.evidence))


def as_hint(finding: Finding) -> Finding:
    """What happens only if something else does: worth knowing, no alarm."""
    return replace(finding, certainty="hint", severity="note")
