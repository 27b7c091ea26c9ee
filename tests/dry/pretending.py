"""Performs an act on pretended devices, for the tests of `dry.pretend`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sleuth.dry.journal import Journal
from sleuth.dry.scenario import Scenario
from sleuth.dry.stage import Stage, set_up


def performed(act: Callable[[], object], **scenario: Any) -> Stage:
    """The stage on which the act was performed; raises what the act raises."""
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder) / "journal")
        stage = Stage(Scenario(target="test", **scenario), journal, Path(folder))
        try:
            with set_up(stage):
                act()
        finally:
            journal.close()
    return stage


def raised(act: Callable[[], object], **scenario: Any) -> BaseException | None:
    """What the act raises, None where it goes well."""
    try:
        performed(act, **scenario)
    except BaseException as error:
        return error
    return None
