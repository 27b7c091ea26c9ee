"""From a bundle back into the live objects of a program that was started anew. Only numbers are put in place; every
class, function and line is the program's own."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from sleuth.live.bundle import tree
from sleuth.live.bundle.census import Census
from sleuth.live.bundle.format import Bundle
from sleuth.live.snapshot import RandomState, RandomStates

# For a variation that wants other random numbers; fixed, so that two replays agree.
OTHER_SEED = 20_011


class Changed(Exception):
    """The program is not the one that the bundle comes from; `str()` of it is the one line to show."""


class Restorer:
    """Puts the parts of one bundle in place."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._content = bundle.content

    def tensor(self, number: int) -> Tensor:
        kind, shape = self._bundle.kind(number)
        dtype: torch.dtype = getattr(torch, kind)
        raw = self._bundle.raw(number)
        return torch.frombuffer(raw, dtype=dtype).reshape(shape) if raw else torch.empty(shape, dtype=dtype)

    def value(self, node: Any, like: Any = None) -> Any:
        return tree.grow(node, self.tensor, like)

    def weights(self, census: Census) -> None:
        """Weights, buffers, optimiser state, in place. Raises Changed where they do not fit."""
        with torch.no_grad():
            for model, told in self._models(census.models):
                name = told["class"]
                self._fill(dict(model.named_parameters(remove_duplicate=False)), told["parameters"], name)
                self._fill(dict(model.named_buffers()), told["buffers"], name)
            for name, number in self._content["variables"]:
                # One that is made anew in every round is not there yet, or is of another size.
                if name in census.variables and self._fits(census.variables[name], number):
                    self._copy(census.variables[name], number, name)
            for optimizer, told in self._optimizers(census.optimizers):
                self._fill_optimizer(optimizer, told)

    def _models(self, models: list[Any]) -> Iterable[tuple[Any, dict[str, Any]]]:
        """Each recorded model with the one here that has its class: of several, in the order they were made."""
        left = list(models)
        for told in self._content["modules"]:
            fitting = [model for model in left if type(model).__qualname__ == told["class"]]
            if not fitting and told["parameters"]:
                raise Changed(f"the program makes no {told['class']} before its first training step")
            if fitting:
                left = [model for model in left if model is not fitting[0]]
                yield fitting[0], told

    def _optimizers(self, optimizers: list[Any]) -> Iterable[tuple[Any, dict[str, Any]]]:
        recorded = self._content["optimizers"]
        if len(optimizers) != len(recorded):
            raise Changed(f"the program has {len(optimizers)} optimisers here; it had {len(recorded)}")
        for optimizer, told in zip(optimizers, recorded, strict=True):
            if type(optimizer).__qualname__ != told["class"]:
                raise Changed(f"the optimiser is a {type(optimizer).__qualname__} here; it was a {told['class']}")
            yield optimizer, told

    def _fill(self, here: dict[str, Tensor], told: list[Any], owner: str) -> None:
        for name, number in told:
            if name not in here:
                raise Changed(f"the model has changed since: {owner} has no {name} here")
            self._copy(here[name], number, f"{owner}'s {name}")

    def _fits(self, target: Tensor, number: int) -> bool:
        return (str(target.dtype).removeprefix("torch."), tuple(target.shape)) == self._bundle.kind(number)

    def _copy(self, target: Tensor, number: int, shown: str) -> None:
        if not self._fits(target, number):
            kind, shape = self._bundle.kind(number)
            here = f"{target.dtype}{tuple(target.shape)}".removeprefix("torch.")
            raise Changed(f"the model has changed since: {shown} is {here} here and was {kind}{shape}")
        target.copy_(self.tensor(number))

    def _fill_optimizer(self, optimizer: Any, told: dict[str, Any]) -> None:
        if len(optimizer.param_groups) != len(told["groups"]):
            raise Changed(
                f"{told['class']} has {len(optimizer.param_groups)} groups here; it had {len(told['groups'])}"
            )
        by_number: dict[int, Tensor] = {}
        for group, old in zip(optimizer.param_groups, told["groups"], strict=True):
            if len(group["params"]) != len(old["parameters"]):
                raise Changed(f"{told['class']} holds another number of parameters here")
            for index, (parameter, number) in enumerate(zip(group["params"], old["parameters"], strict=True)):
                self._copy(parameter, number, f"parameter {index} of {told['class']}")
                by_number[number] = parameter
            settings = self.value(old["settings"], group)
            group.update({key: value for key, value in settings.items() if key in group and key != "params"})
        for state in told["state"]:
            parameter = by_number.get(state["parameter"])
            if parameter is not None:
                held = optimizer.state.get(parameter)
                optimizer.state[parameter] = _beside(parameter, self.value(state["holds"], held or None))

    def scalers(self, census: Census) -> None:
        for scaler, told in zip(census.scalers, self._content["scalers"], strict=False):
            state = self.value(told)
            if state and scaler.is_enabled():
                scaler.load_state_dict(state)

    def random(self, node: Any, states: RandomStates) -> None:
        """Set every generator as it was; those of the program's own are matched by their order and class."""
        kept = self.value(node)
        if kept is None:
            return
        here = states.take()
        own = [(generator, kept_own[1]) for (generator, _), kept_own in zip(here.generators, kept["own"], strict=False)
               if type(generator).__name__ == kept_own[0]]  # fmt: skip
        accelerator = tuple(kept["accelerator"]) if len(kept["accelerator"]) == len(here.accelerator) else ()
        version, words, gauss = kept["python"]
        RandomState(kept["torch"], (version, tuple(words), gauss), kept["numpy"], accelerator, tuple(own)).restore()


def other_random_numbers(states: RandomStates) -> None:
    torch.manual_seed(OTHER_SEED)
    random.seed(OTHER_SEED)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(OTHER_SEED)
    for generator, _ in states.take().generators:
        if isinstance(generator, torch.Generator):
            generator.manual_seed(OTHER_SEED)
        elif isinstance(generator, random.Random):
            generator.seed(OTHER_SEED)


def _beside(parameter: Tensor, held: Any) -> Any:
    """An optimiser's state where its parameter is. Step counters stay on the host, as optimisers keep them there."""
    if not isinstance(held, dict):
        return held
    return {
        key: value.to(parameter.device) if isinstance(value, Tensor) and value.dim() else value
        for key, value in held.items()
    }
