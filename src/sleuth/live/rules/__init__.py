"""One file a diagnosis of a run that does not learn, named after it. Each has `look(run) -> Finding | None`.

TIER orders them: what is wired wrongly (0), what is wrong with loss and labels (1), with data, weights or structure
(2), with hyperparameters (3), and last the symptoms that no cause was found for (4). Once something is named, later
tiers are not asked: they would describe its consequences."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol, cast

from sleuth.findings import Finding
from sleuth.live.signals import Run


class Rule(Protocol):
    TIER: int

    def look(self, run: Run) -> Finding | None: ...


@cache
def in_order() -> tuple[tuple[int, str, Rule], ...]:
    """Every rule as (tier, diagnosis, module), the causes before the symptoms."""
    modules = [
        (info.name, importlib.import_module(f"{__name__}.{info.name}"))
        for info in pkgutil.iter_modules(__path__)
        if not info.name.startswith("_")
    ]
    rules = [(module.TIER, name.replace("_", "-"), cast(Rule, module)) for name, module in modules]
    return tuple(sorted(rules, key=lambda rule: rule[:2]))
