"""A stage with fake numbers in this process, for the tests of this folder."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sleuth.dry.journal import Journal
from sleuth.dry.scenario import Scenario
from sleuth.dry.stage import Stage, set_up


@contextlib.contextmanager
def fake_stage(folder: Path, corner: str = "", device: str = "cpu") -> Iterator[Stage]:
    """Everything pretended, and no numbers."""
    scenario = Scenario("train.py", numbers="fake", corner=corner, device=device)
    stage = Stage(scenario, Journal(folder / "journal"), folder)
    with set_up(stage):
        yield stage


def assumed(folder: Path) -> list[str]:
    """What was assumed, in order."""
    lines = (folder / "journal").read_text(encoding="utf-8").splitlines()
    entries: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return [entry["what"] for entry in entries if entry["kind"] == "assumption"]
