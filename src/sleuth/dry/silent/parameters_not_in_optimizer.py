"""Parameters that the loss gives gradients to and no optimiser holds, by accident."""

from __future__ import annotations

import sys
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from sleuth import handbook
from sleuth.dry.births import Birth, Call, users_line
from sleuth.dry.silent._leaves import parameters_below, parameters_of
from sleuth.dry.watchers import Watcher
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.frameworks import torch_private
from sleuth.layer_source import place_of_layer

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_is_of_a_transform = torch_private.get("torch._C._functorch.is_functorch_wrapped_tensor")

# A parameter's own birth lies behind its initialisation, its move to a card and its updates.
_FARTHEST = 200


@dataclass(frozen=True, slots=True)
class _Orphan:
    name: str
    owner: str
    why: Literal["made later", "in a plain container"]
    place: Place | None
    optimizer: Place | None


class Watch(Watcher):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self._optimizers: weakref.WeakKeyDictionary[Any, Birth] = weakref.WeakKeyDictionary()
        self._reached: dict[int, Any] = {}
        self._has_stepped = False
        self._orphans: dict[int, _Orphan] = {}
        # Storages that the program itself writes to after a backward pass: whoever updates by hand needs no optimiser.
        self._by_hand: set[int] = set()
        self._hear_optimizers()

    def _hear_optimizers(self) -> None:
        plain = torch.optim.Optimizer.__init__

        def init(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            code, instruction = users_line(sys._getframe(1))
            self._optimizers[optimizer] = Birth("optimizer", (), "", "", code=code, instruction=instruction)
            plain(optimizer, *args, **kwargs)

        self.stage.patches.set(torch.optim.Optimizer, "__init__", init)

    def called(self, call: Call, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if self._reached and call.operation.endswith("_") and args and _has_storage(args[0]):
            self._by_hand.add(args[0].untyped_storage()._cdata)

    def backward(self, roots: list[Any]) -> None:
        if self._has_stepped:
            self._reached, self._has_stepped = {}, False
        self._reached |= parameters_below(roots)

    def stepped(self, optimizer: Any) -> None:
        self._has_stepped = True
        held = {id(parameter) for one in list(self._optimizers) for parameter in parameters_of(one)}
        held |= {id(parameter) for parameter in parameters_of(optimizer)}
        self._orphans = {key: orphan for key, orphan in self._orphans.items() if key not in held}
        if not any(id(parameter) in self._reached for parameter in parameters_of(optimizer)):
            return
        for key, parameter in self._reached.items():
            if key not in held and key not in self._orphans and not self._is_kept_by_hand(parameter):
                orphan = self._orphan(parameter, optimizer)
                if orphan is not None:
                    self._orphans[key] = orphan

    def _is_kept_by_hand(self, parameter: Any) -> bool:
        return _has_storage(parameter) and parameter.untyped_storage()._cdata in self._by_hand

    def _orphan(self, parameter: Any, optimizer: Any) -> _Orphan | None:
        made, taken = _making(self.stage.births[parameter]), self._optimizers.get(optimizer)
        where = None if taken is None else taken.place
        for model in self.stage.models:
            for name, one in model.named_parameters():
                if one is parameter:
                    if made is None or taken is None or made.number < taken.number:
                        return None  # it was there, and was left out: a choice
                    owner, _, last = name.rpartition(".")
                    kind = type(model.get_submodule(owner)).__name__ if owner else f"the parameter {last}"
                    place = made.place or place_of_layer(model, name)
                    return _Orphan(name, kind, "made later", place, where)
        for model in self.stage.models:
            hidden = _hidden_in(model, parameter)
            if hidden is not None:
                place = (made.place if made is not None else None) or place_of_layer(model, hidden)
                return _Orphan(hidden, type(model).__name__, "in a plain container", place, where)
        return None

    def ended(self, error: BaseException | None) -> None:
        """Only now: an optimiser for the rest may be made late."""
        if error is not None and not isinstance(error, SystemExit):
            return
        by_line: dict[tuple[str, int] | None, list[_Orphan]] = {}
        for orphan in self._orphans.values():
            line = None if orphan.place is None else (orphan.place.path, orphan.place.line)
            by_line.setdefault(line, []).append(orphan)
        for orphans in by_line.values():
            self.stage.journal.finding(_finding(orphans[0], len(orphans)))


def _has_storage(thing: Any) -> bool:
    """Is it a tensor whose numbers lie in one piece of memory, rather than a sparse one or one of a transform?"""
    return isinstance(thing, torch.Tensor) and thing.layout == torch.strided and not _is_of_a_transform(thing)


def _making(birth: Birth | None) -> Birth | None:
    """The birth of a parameter as such; None where that was before the rehearsal."""
    for _ in range(_FARTHEST):
        if birth is None:
            return None
        if birth.operation == "parameter":
            return birth if birth.code is not None else None
        birth = birth.parents[0] if birth.parents else None
    return None


def _hidden_in(model: Any, parameter: Any) -> str | None:
    """`layers.2` where a plain list or dictionary of the model holds the parameter, or a layer with it."""
    for prefix, part in model.named_modules():
        for name, value in vars(part).items():
            if name.startswith("_") or not isinstance(value, list | tuple | dict):
                continue
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                is_inside = isinstance(item, nn.Module) and any(one is parameter for one in item.parameters())
                if item is parameter or is_inside:
                    return ".".join(str(step) for step in (prefix, name, key) if step != "")
    return None


def _finding(orphan: _Orphan, count: int) -> Finding:
    made_later = orphan.why == "made later"
    why = (
        f"{orphan.owner} was made later, so its parameters are not among them"
        if made_later
        else f"{orphan.name} is kept in a plain list or dict of {orphan.owner}, where parameters() does not look"
    )
    return handbook.finding(
        "parameters-not-in-optimizer",
        place=orphan.place,
        evidence=(Evidence("parameter", orphan.name), Evidence("parameters left out", count)),
        chain=(
            Link("the optimiser took its parameters", orphan.optimizer),
            Link(why, orphan.place),
            Link("they get gradients at every step, and nothing uses those"),
        ),
        fixes=(
            Fix("build the optimiser after the model is complete"),
            Fix("keep layers in nn.ModuleList or nn.ModuleDict, so that model.parameters() finds them"),
        )[:: 1 if made_later else -1],
    )
