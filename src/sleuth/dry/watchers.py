"""Those who look on while the rehearsal runs, for what goes wrong without a crash."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from sleuth.dry.births import Call

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


class Watcher:
    """Hears what happens on the stage; says what it finds to `stage.journal`."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def called(self, call: Call, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """A torch function has returned."""

    def backward(self, roots: list[Any]) -> None:
        """A backward pass from these tensors is about to begin."""

    def backward_done(self, roots: list[Any]) -> None:
        """It is over."""

    def stepped(self, optimizer: Any) -> None:
        """An optimiser has made a step."""

    def ended(self, error: BaseException | None) -> None:
        """The program is over."""


def silent_kinds() -> list[type[Watcher]]:
    """The watcher of each module of `dry.silent`."""
    from sleuth.dry import silent

    names = [info.name for info in pkgutil.iter_modules(silent.__path__) if not info.name.startswith("_")]
    return [importlib.import_module(f"{silent.__name__}.{name}").Watch for name in sorted(names)]
