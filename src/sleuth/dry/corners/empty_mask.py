"""Every mask selects nothing, as it does for a batch without an object, a padding-only sentence, a rare class."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.corners import as_hint, titled
from sleuth.dry.journal import Outcome
from sleuth.dry.pretend import handlers
from sleuth.dry.scenario import Scenario
from sleuth.findings import Finding
from sleuth.program import is_users

if TYPE_CHECKING:
    from sleuth.dry.pretend.mode import Mode
    from sleuth.dry.stage import Stage

TITLE = "when a mask selects nothing"
_NOTHING = re.compile(r"empty|zero|\b0 elements|numel\(\) == 0|with size 0\b", re.IGNORECASE)


def scenario(plain: Scenario, outcome: Outcome) -> Scenario | None:
    return plain if outcome.acts.get("mask") else None


def told(finding: Finding) -> Finding | None:
    """Only what minds that there is nothing: sizes may not fit because we emptied one mask and not its twin."""
    errors = [str(item.value) for item in finding.evidence if item.name == "error"]
    return as_hint(titled(finding, TITLE)) if any(_NOTHING.search(error) for error in errors) else None


def install(stage: Stage) -> None:
    for func in handlers.MASKING:
        stage.mode.handlers[func] = _selecting_nothing


def _selecting_nothing(mode: Mode, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In the program's own lines only: a library that masks knows what it does."""
    if not is_users(sys._getframe(2).f_code.co_filename):
        return mode.perform(func, args, kwargs)
    return mode.perform(func, tuple(_emptied(mode, one) for one in args), kwargs)


def _emptied(mode: Mode, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_emptied(mode, one) for one in value)
    if not isinstance(value, torch.Tensor) or value.dtype != torch.bool or not _depends_on_data(mode, value):
        return value
    nothing = torch.zeros_like(value)
    mode.births[nothing] = mode.birth(value)
    return nothing


def _depends_on_data(mode: Mode, mask: Any) -> bool:
    """A batch may leave a mask empty, or a model that scores low; one of data that were there before is as it is."""
    first = mode.stage.first_forward
    return any(
        birth.operation in ("DataLoader", "parameter") or (first and not birth.parents and birth.number > first)
        for birth in mode.birth(mask).ancestors()
    )
