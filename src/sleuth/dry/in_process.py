"""A rehearsal of one act in this very process, which is afterwards as it was."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from sleuth.dry import journal
from sleuth.dry.scenario import Scenario
from sleuth.dry.stage import Enough, Stage, TooExpensive, conclude, set_up
from sleuth.findings import Finding

Numbers = Literal["auto", "real", "fake"]


@dataclass
class Held:
    """What came of it: the findings, and the error that ended the act where there was one."""

    findings: list[Finding] = field(default_factory=list)
    error: BaseException | None = None


def hold(act: Callable[[], object], scenario: Scenario, numbers: Numbers = "auto") -> Held:
    """Perform the act on pretended devices. `numbers`: real, fake, or real where that is affordable.

    The act may be performed twice: it must make for itself what it changes."""
    held = _once(act, replace(scenario, numbers="fake" if numbers == "fake" else "real"))
    if numbers == "auto" and isinstance(held.error, TooExpensive):
        held = _once(act, replace(scenario, numbers="fake"))
    return held


def _once(act: Callable[[], object], scenario: Scenario) -> Held:
    held = Held()
    with tempfile.TemporaryDirectory(prefix="sleuth-dry-") as folder:
        notes = journal.Journal(Path(folder) / "0.journal")
        stage = Stage(scenario, notes, Path(folder))
        try:
            with set_up(stage):
                held.error = _performed(act)
                conclude(held.error, stage)
        finally:
            notes.close()
    held.findings = list(notes.findings)
    return held


def _performed(act: Callable[[], Any]) -> BaseException | None:
    try:
        act()
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except Enough:
        return None
    except BaseException as error:
        return error
    return None
