"""A report as JSON, schema 1: the contract other tools rely on."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sleuth.findings import Report


def render(report: Report, problems: tuple[str, ...] = (), statistics: Mapping[str, int] | None = None) -> str:
    """`problems` and `statistics` are there only when there are any to tell."""
    told = report.to_json()
    if problems:
        told["problems"] = list(problems)
    if statistics is not None:
        told["statistics"] = dict(statistics)
    return json.dumps(told, indent=2, allow_nan=False)
