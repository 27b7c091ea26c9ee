"""Parameters of the model that an optimiser steps, and that no loss depends on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

from torch import nn

from sleuth import handbook
from sleuth.dry.births import Call
from sleuth.dry.silent._leaves import parameters_below, parameters_of
from sleuth.dry.silent._mentions import is_mentioned
from sleuth.dry.silent._parts import Part, parts_made_of
from sleuth.dry.tensors import tensors_in
from sleuth.dry.watchers import Watcher
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.layer_source import place_of_layer

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# What a single step does not use, the next may.
_STEPS = 2
How = Literal["not mentioned", "without effect", "not called"]
FIX = Fix("use the layer in forward, or delete it")


class Watch(Watcher):
    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        # By the parameters' ids. The models keep them alive: `stage` holds these until the end.
        self._used: set[int] = set()
        self._steps: Counter[int] = Counter()
        self._called: dict[int, Call] = {}

    def called(self, call: Call, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if any(one.requires_grad and not isinstance(one, nn.Parameter) for one in tensors_in(result)):
            for one in tensors_in((args, kwargs)):
                if isinstance(one, nn.Parameter):
                    self._called[id(one)] = call

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
        for part in self.unused(_STEPS):
            how = self._how(part)
            if how != "not called":
                self.stage.journal.finding(self._finding(part, how))

    def unused(self, steps: int) -> list[Part]:
        """What no loss depended on, in so many steps or more."""
        found = []
        for model in self.stage.models:
            own = [one for one in model.parameters() if one.requires_grad]
            unused = {id(one) for one in own if id(one) not in self._used and self._steps[id(one)] >= steps}
            if len(unused) < len(own):
                found += parts_made_of(unused, model)
        return found

    def story(self, part: Part) -> list[Link]:
        """Where the part is made, and what became of it."""
        how, made = self._how(part), self.making(part)
        where = next((self._called[id(one)].place for one in part.parameters if id(one) in self._called), None)
        what = {
            "not mentioned": Link(f"nothing in {type(part.owner).__name__} or around it uses self.{part.attribute}"),
            "without effect": Link("it is used here, and no loss depends on what comes out", where),
            "not called": Link(f"no step came to use self.{part.attribute}"),
        }
        return [Link(f"{part.name} is made", made), what[how]]

    def making(self, part: Part) -> Place | None:
        birth = self.stage.births[part.parameters[0]]
        ancestors = [] if birth is None else birth.ancestors()
        made = next((one.place for one in ancestors if one.operation == "parameter"), None)
        return made or place_of_layer(part.model, part.name)

    def _how(self, part: Part) -> How:
        if any(id(one) in self._called for one in part.parameters):
            return "without effect"
        return "not called" if is_mentioned(type(part.owner), part.attribute) else "not mentioned"

    def _finding(self, part: Part, how: How) -> Finding:
        return handbook.finding(
            "parameters-unused",
            place=self.making(part),
            certainty="likely" if how == "not mentioned" else "hint",
            severity="note",
            evidence=evidence(part),
            chain=(
                *self.story(part),
                Link("their .grad is None at every step, and they keep their initial values"),
            ),
            fixes=(FIX,),
        )


def evidence(part: Part) -> tuple[Evidence, ...]:
    return (
        Evidence("part", part.name),
        Evidence("parameters", len(part.parameters)),
        Evidence("numbers in them", sum(one.numel() for one in part.parameters)),
    )
