"""Parameters of the model that an optimiser steps, and that no loss depends on."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from sleuth import handbook
from sleuth.dry.births import Birth, Call
from sleuth.dry.pretend.mode import tensors_in
from sleuth.dry.silent import _mentions
from sleuth.dry.silent._leaves import parameters_below, parameters_of
from sleuth.dry.watchers import Watcher
from sleuth.findings import Certainty, Evidence, Finding, Fix, Link, Place, Severity
from sleuth.layer_source import place_of_layer

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# What a single step does not use, the next may.
_STEPS = 2
_WRAPPER = "DistributedDataParallel"


@dataclass(frozen=True, slots=True)
class _Part:
    """A layer, or a parameter by itself, with the module of the user's that should use it."""

    name: str
    attribute: str
    owner: Any
    parameters: tuple[Any, ...]


class Watch(Watcher):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        # By the parameters' ids. The models keep them alive: `stage` holds these until the end.
        self._used: set[int] = set()
        self._steps: Counter[int] = Counter()
        self._called: dict[int, Place | None] = {}

    def called(self, call: Call, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if isinstance(result, torch.Tensor | tuple | list) and any(
            one.grad_fn is not None for one in tensors_in(result)
        ):
            for one in tensors_in((args, kwargs)):
                if isinstance(one, nn.Parameter):
                    self._called[id(one)] = call.place

    def backward(self, roots: list[Any]) -> None:
        self._used |= parameters_below(roots).keys()

    def stepped(self, optimizer: Any) -> None:
        for parameter in parameters_of(optimizer):
            if parameter.grad is not None:
                self._used.add(id(parameter))
            elif parameter.requires_grad:
                self._steps[id(parameter)] += 1

    def ended(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, SystemExit):
            return
        for model in self.stage.models:
            unused = {id(one) for one in model.parameters() if self._is_unused(one)}
            if unused and any(id(one) in self._used for one in model.parameters()):
                for part in _parts(model, unused):
                    finding = self._finding(model, part)
                    if finding is not None:
                        self.stage.journal.finding(finding)

    def _is_unused(self, parameter: Any) -> bool:
        key = id(parameter)
        return parameter.requires_grad and key not in self._used and self._steps[key] >= _STEPS

    def _finding(self, model: Any, part: _Part) -> Finding | None:
        where = next((self._called[id(one)] for one in part.parameters if id(one) in self._called), None)
        how: Literal["not mentioned", "without effect", "not called"] = "not called"
        if any(id(one) in self._called for one in part.parameters):
            how = "without effect"
        elif not _mentions.is_mentioned(type(part.owner), part.attribute):
            how = "not mentioned"
        crashes = type(model).__name__ == _WRAPPER and not getattr(model, "find_unused_parameters", False)
        if how == "not called" and not crashes:
            return None
        certainty: Certainty = "likely" if crashes or how == "not mentioned" else "hint"
        severity: Severity = "error" if crashes else "note"
        made = self._making(model, part)
        what = {
            "not mentioned": (f"nothing in {type(part.owner).__name__} or around it uses self.{part.attribute}", made),
            "without effect": ("it is used here, and no loss depends on what comes out", where),
            "not called": (f"no step of the rehearsal came to use self.{part.attribute}", None),
        }[how]
        ends = (
            f'{_WRAPPER} waits for their gradients: "Expected to have finished reduction in the prior iteration"'
            if crashes
            else "their .grad is None at every step, and they keep their initial values"
        )
        return handbook.finding(
            "parameters-unused",
            place=made,
            certainty=certainty,
            severity=severity,
            evidence=(
                Evidence("part", part.name),
                Evidence("parameters", len(part.parameters)),
                Evidence("numbers in them", sum(one.numel() for one in part.parameters)),
            ),
            chain=(Link(f"{part.name} is made", made), Link(*what), Link(ends)),
            fixes=(Fix("use the layer in forward, or delete it"),),
        )

    def _making(self, model: Any, part: _Part) -> Place | None:
        birth: Birth | None = self.stage.births[part.parameters[0]]
        ancestors = list(birth.ancestors()) if birth is not None else []
        made = next((one.place for one in ancestors if one.operation == "parameter"), None)
        return made or place_of_layer(model, part.name)


def _parts(model: Any, unused: set[int]) -> list[_Part]:
    """The largest parts of the model that are wholly unused, each with the user's module that holds it."""
    parts: list[_Part] = []

    def go_down(module: Any, path: tuple[str, ...], owner: Any, attribute: str) -> None:
        if _mentions.is_users_class(type(module)):
            owner, attribute = module, ""
        children: list[tuple[str, Any]] = [*module._parameters.items(), *module._modules.items()]
        for name, child in children:
            part = _part(".".join((*path, name)), attribute or name, owner, child)
            if part.parameters and owner is not None and all(id(one) in unused for one in part.parameters):
                parts.append(part)
            elif isinstance(child, nn.Module):
                go_down(child, (*path, name), owner, part.attribute)

    go_down(model, (), None, "")
    return parts


def _part(name: str, attribute: str, owner: Any, child: Any) -> _Part:
    inside = [] if child is None else child.parameters() if isinstance(child, nn.Module) else [child]
    return _Part(name, attribute, owner, tuple(one for one in inside if one.requires_grad))
