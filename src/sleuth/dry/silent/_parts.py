"""The parts of a model that are wholly made of certain parameters, each with the user's module that should use it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from sleuth.dry.silent._mentions import is_users_class

_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)
_WRAPPERS = ("DistributedDataParallel", "DataParallel")


@dataclass(frozen=True, slots=True)
class Part:
    """A layer, or a parameter by itself: `name` leads to it from `model`, `attribute` is what `owner` calls it."""

    model: Any
    name: str
    attribute: str
    owner: Any
    parameters: tuple[Any, ...]


def parts_made_of(wanted: set[int], model: Any) -> list[Part]:
    """The largest such parts, of models whose code is the user's. Parameters are known by their ids."""
    if type(model).__name__ in _WRAPPERS:
        model = model.module
    parts: list[Part] = []

    def go_down(module: Any, path: tuple[str, ...], owner: Any, attribute: str) -> None:
        if is_users_class(type(module)):
            owner, attribute = module, ""
        elif not isinstance(module, _CONTAINERS):
            owner = None  # what a library leaves unused in its own layers is its affair
        for name, child in (*module._parameters.items(), *module._modules.items()):
            part = Part(model, ".".join((*path, name)), attribute or name, owner, _trained(child))
            if part.parameters and owner is not None and all(id(one) in wanted for one in part.parameters):
                parts.append(part)
            elif isinstance(child, nn.Module):
                go_down(child, (*path, name), owner, part.attribute)

    go_down(model, (), None, "")
    return parts


def _trained(child: Any) -> tuple[Any, ...]:
    inside = [] if child is None else child.parameters() if isinstance(child, nn.Module) else [child]
    return tuple(one for one in inside if one.requires_grad)
