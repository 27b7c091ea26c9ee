"""Rehearses a program given as text, for the tests of this folder."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent
from typing import Any

from sleuth.dry.rehearsal import Rehearsal, rehearse
from sleuth.dry.scenario import Scenario


def rehearsed(folder: Path, source: str, *arguments: str, numbers: str = "real", **scenario: Any) -> Rehearsal:
    """What a rehearsal of this program comes to. Its corners are left out unless `in_corners` names them."""
    path = folder / "train.py"
    path.write_text(dedent(source).lstrip(), encoding="utf-8")
    corners = scenario.pop("in_corners", ())
    before = os.getcwd()
    os.chdir(folder)
    try:
        return rehearse(
            Scenario(target=str(path), arguments=arguments, **{"seconds": 30.0, **scenario}),
            numbers=numbers,
            in_corners=corners,
        )
    finally:
        os.chdir(before)


def assumptions(done: Rehearsal) -> dict[int, str]:
    """What was assumed, by line."""
    return {one.place.line: one.what for one in done.plain.assumptions if one.place is not None}
