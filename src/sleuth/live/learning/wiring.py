"""How a program's parts hang together: its optimisers' settings, and the parameters that no optimiser holds."""

from __future__ import annotations

from typing import Any

from torch import Tensor

_SETTINGS = ("lr", "momentum", "weight_decay", "eps")


def rate(optimizer: Any) -> float:
    return max((float(group.get("lr", 0.0)) for group in optimizer.param_groups), default=0.0)


def settings(optimizer: Any) -> dict[str, float]:
    first = optimizer.param_groups[0] if optimizer.param_groups else {}
    found = {name: float(first[name]) for name in _SETTINGS if isinstance(first.get(name), int | float | Tensor)}
    if isinstance(first.get("betas"), tuple | list) and isinstance(first["betas"][0], int | float):
        found["beta1"] = float(first["betas"][0])
    return found


def is_stateful(optimizer: Any) -> bool:
    """Does it remember anything from step to step that is lost when it is built anew?"""
    if type(optimizer).__name__ != "SGD":
        return True
    return any(group.get("momentum", 0) for group in optimizer.param_groups)


def is_still_scaled(scaler: Any, parameters: list[Tensor]) -> bool:
    """Are these gradients still multiplied by the scaler's scale?"""
    if scaler is None or not scaler.is_enabled():
        return False
    states = scaler._per_optimizer_states
    # Once any optimiser was unscaled in this round, whose parameters these are is not for us to guess.
    return not any(getattr(state.get("stage"), "name", "") == "UNSCALED" for state in states.values())


def note_orphans(
    learning: Any, held: Any, parameters: list[Tensor], orphans: list[Tensor], leaves: dict[int, Any]
) -> None:
    """Parameters that the loss gives gradients to and that no optimiser holds."""
    run, making, inspection = learning.run, learning.making, learning.inspection
    stale = [p for p in parameters if p.requires_grad and id(p) not in leaves and p.grad is None]
    consumers = {id(p): call for call in inspection.calls for p in call.parameters}
    registered = {
        id(p) for root in inspection.roots if (module := root.module()) is not None for p in module.parameters()
    }
    some_held = any(id(p) in leaves for p in parameters)
    seen = set()
    for orphan in orphans:
        call = consumers.get(id(orphan))
        module = call.module if call is not None else None
        owns = module is not None and any(p is orphan for p in module._parameters.values())
        place = (making.place(module) if owns else making.place(orphan)) or (call.place if call else None)
        order = making.order(module) if owns else making.order(orphan)
        if place in seen:
            continue
        seen.add(place)
        run.facts.note(
            "orphan",
            run.step,
            place,
            who=held.number,
            numbers={
                "name": learning.name(orphan),
                "type": type(module).__name__ if owns else "Parameter",
                "made_after": order > held.order > 0,
                "unregistered": id(orphan) not in registered,
                "stale": len(stale),
                "some_held": some_held,
                "orphans": len(orphans),
            },
            optimizer=held.signals.made,
        )
