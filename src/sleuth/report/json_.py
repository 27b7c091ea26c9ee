"""A report as JSON, schema 1: the contract other tools rely on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sleuth.findings import Report


def render(
    report: Report,
    problems: tuple[str, ...] = (),
    statistics: Mapping[str, int] | None = None,
    more: Mapping[str, Any] | None = None,
) -> str:
    """`problems`, `statistics` and what a command has `more` to tell are there only when there are any."""
    told = {**report.to_json(), **(more or {})}
    if problems:
        told["problems"] = list(problems)
    if statistics is not None:
        told["statistics"] = dict(statistics)
    return json.dumps(told, indent=2, allow_nan=False)
