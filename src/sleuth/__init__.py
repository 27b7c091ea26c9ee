"""Sleuth finds out why a deep-learning program misbehaves, and shows the line."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself would double the time it takes to import this package
if TYPE_CHECKING:
    from typing import Any

    from sleuth.findings import Edit, Evidence, Finding, Fix, Link, Place, Report
    from sleuth.integrations.compare import compare
    from sleuth.integrations.context import watch
    from sleuth.integrations.dry import dry
    from sleuth.integrations.expect import ExpectationBroken, expect
    from sleuth.triage import ask

__all__ = [
    "Edit",
    "Evidence",
    "ExpectationBroken",
    "Finding",
    "Fix",
    "Link",
    "Place",
    "Report",
    "ask",
    "compare",
    "dry",
    "expect",
    "watch",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imported on first use, so that `import sleuth` stays light."""
    if name == "watch":
        from sleuth.integrations.context import watch

        return watch
    if name in ("expect", "ExpectationBroken"):
        from sleuth.integrations import expect

        return getattr(expect, name)
    if name in ("compare", "dry"):
        import importlib

        return importlib.import_module(f"sleuth.{name}")  # the package, which can be called
    if name == "ask":
        from sleuth.triage import ask

        return ask
    if name in __all__:
        from sleuth import findings

        return getattr(findings, name)
    raise AttributeError(f"module 'sleuth' has no attribute {name!r}")
