"""A report as JSON, schema 1: the contract other tools rely on."""

from __future__ import annotations

import json

from sleuth.findings import Report


def render(report: Report) -> str:
    return json.dumps(report.to_json(), indent=2, allow_nan=False)
