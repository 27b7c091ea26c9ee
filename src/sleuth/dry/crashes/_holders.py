"""Who holds a tensor: the attribute of a model it can be reached by, and what kind of attribute that is."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _scene


@dataclass(frozen=True, slots=True)
class Holder:
    """`module.attribute` holds the tensor: directly, or in a plain list or dictionary of layers."""

    root: Any
    module: Any
    path: str  # the module's dotted name, "" for the root
    attribute: str

    @property
    def kind(self) -> str:
        return "dictionary" if isinstance(vars(self.module)[self.attribute], dict) else "list"

    @property
    def dotted(self) -> str:
        return f"{self.path}.{self.attribute}" if self.path else self.attribute


def plain_tensor(crash: Crash, births: Collection[Birth]) -> Holder | None:
    """A tensor that is an attribute, and neither a parameter nor a buffer."""
    from torch import Tensor

    for holder, value in _attributes(crash):
        values = value if isinstance(value, list | tuple) else (value,)
        if any(isinstance(one, Tensor) and _is_one(crash, one, births) for one in values):
            return holder
    return None


def plain_list(crash: Crash, births: Collection[Birth]) -> Holder | None:
    """Layers in a list, tuple or dictionary that torch does not look into."""
    from torch import nn

    for holder, value in _attributes(crash):
        parts = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(parts, list | tuple):
            continue
        for part in parts:
            if isinstance(part, nn.Module) and any(_is_one(crash, one, births) for one in part.parameters()):
                return holder
    return None


def owner(crash: Crash, birth: Birth) -> tuple[Any, str] | None:
    """The model whose parameter or buffer it is, and its dotted name."""
    for root in _scene.roots(crash):
        for name, tensor in [*root.named_parameters(), *root.named_buffers()]:
            if crash.stage.births[tensor] is birth:
                return root, str(name)
    return None


def _is_one(crash: Crash, tensor: Any, births: Collection[Birth]) -> bool:
    known = crash.stage.births[tensor]
    return known is not None and any(known is birth for birth in births)


def _attributes(crash: Crash) -> Iterator[tuple[Holder, Any]]:
    for root in _scene.roots(crash):
        for path, module in root.named_modules():
            for attribute, value in vars(module).items():
                if attribute not in ("_parameters", "_buffers", "_modules") and not attribute.startswith("_flat"):
                    yield Holder(root, module, path, attribute), value
