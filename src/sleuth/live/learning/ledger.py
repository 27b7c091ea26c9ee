"""Who made, used and erased the gradients: told from the gradient tensors themselves, without thresholds.

A gradient that a step has used and that the next backward pass finds unchanged (same tensor, same version, not zero)
is added to, not replaced. A few parameters of each optimiser speak for all."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from sleuth.findings import Place
from sleuth.live.ranks.shards import local

# After this many steps of an optimiser its wiring is known.
STEPS = 24
_SPEAKERS = 6

Mark = tuple[int, int]


@dataclass(eq=False)
class _Account:
    """What is known of one optimiser's gradients."""

    speakers: list[Tensor]
    used: dict[int, Mark] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)


class Ledger:
    def __init__(self) -> None:
        self._accounts: dict[int, _Account] = {}
        self._last_use: dict[int, tuple[int, int, int]] = {}
        self.backwards = 0
        self.erased_since_backward: Place | None = None
        self.steps_since_backward = 0
        self._marks_used: dict[int, Mark | None] = {}

    def account(self, optimizer: Any, parameters: list[Tensor]) -> _Account:
        known = self._accounts.get(id(optimizer))
        if known is None:
            trained = [p for p in parameters if p.requires_grad] or parameters
            spread = max(1, len(trained) // _SPEAKERS)
            known = self._accounts[id(optimizer)] = _Account(trained[::spread][:_SPEAKERS])
        return known

    def close(self, optimizer: Any) -> None:
        self._accounts.pop(id(optimizer), None)

    @property
    def open(self) -> bool:
        return bool(self._accounts)

    def backward_begins(self) -> None:
        for account in self._accounts.values():
            for parameter in account.speakers:
                mark = account.used.get(id(parameter))
                if mark is not None and (_mark(parameter) != mark or not _holds_something(parameter)):
                    del account.used[id(parameter)]
                    account.touched.discard(id(parameter))

    def backward_ended(self) -> None:
        self.backwards += 1
        self.erased_since_backward = None
        self.steps_since_backward = 0
        for account in self._accounts.values():
            for parameter in account.speakers:
                before = account.used.get(id(parameter))
                now = _mark(parameter)
                if before is not None and now is not None and now != before:
                    account.used[id(parameter)] = now
                    account.touched.add(id(parameter))

    def zeroed(self, place: Place | None, parameters: list[Tensor]) -> bool:
        """Gradients are about to be erased. True where nothing has used them since they were made."""
        unused = self.backwards > 0 and self.steps_since_backward == 0 and self.erased_since_backward is None
        unused = unused and any(self._changed_since_use(parameter) for parameter in parameters)
        if self.backwards:
            self.erased_since_backward = self.erased_since_backward or place
        return unused

    def step_begins(self, optimizer: Any, parameters: list[Tensor]) -> tuple[str, Any]:
        """What is special about the gradients this step will use: "carried", "again", "none", or nothing ("")."""
        account = self.account(optimizer, parameters)
        verdict: tuple[str, Any] = ("", None)
        if any(id(p) in account.touched and id(p) in account.used for p in account.speakers):
            verdict = ("carried", None)
        for parameter in account.speakers:
            gradient = parameter.grad
            last = self._last_use.get(id(parameter))
            if gradient is not None and last is not None and last[:2] == (id(gradient), self.backwards):
                if _holds_something(parameter):
                    verdict = ("again", last[2])
                break
        if verdict[0] == "" and not any(_holds_something(p) for p in parameters):
            verdict = ("none", None)
        return verdict

    def step_ended(self, optimizer: Any, parameters: list[Tensor]) -> None:
        account = self.account(optimizer, parameters)
        account.touched.clear()
        account.used = {id(p): mark for p in account.speakers if (mark := _mark(p)) is not None}
        for parameter in account.speakers:
            self._marks_used[id(parameter)] = _mark(parameter)
            if parameter.grad is not None:
                self._last_use[id(parameter)] = (id(parameter.grad), self.backwards, id(optimizer))

    def _changed_since_use(self, parameter: Tensor) -> bool:
        """Has a backward pass given it a gradient that no step has used? Of those that speak for an optimiser."""
        if id(parameter) not in self._marks_used:
            return False
        return _mark(parameter) not in (None, self._marks_used[id(parameter)]) and _holds_something(parameter)

    def used_already(self, parameters: list[Any]) -> bool:
        """Have steps used all these gradients, with no backward pass since?"""
        known = [p for p in parameters if id(p) in self._last_use and p.grad is not None]
        return bool(known) and all(
            self._last_use[id(p)][:2] == (id(p.grad), self.backwards) and _holds_something(p) for p in known
        )


def _mark(parameter: Tensor) -> Mark | None:
    gradient = parameter.grad
    return None if gradient is None else (id(gradient), gradient._version)


def _holds_something(parameter: Tensor) -> bool:
    gradient = parameter.grad
    if gradient is None or gradient.device.type == "meta":
        return False
    values = gradient._values() if gradient.is_sparse else local(gradient)
    return bool(values.count_nonzero())
