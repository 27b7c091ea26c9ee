"""What parameters are called: by their dotted names in the models that the program calls."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

from torch import Tensor, nn

from sleuth.live.learning.inspection import RootCall
from sleuth.live.learning.making import Making


class Names:
    """Learnt from the calls of models that are looked at; `roots` gives those of the current look."""

    def __init__(self, making: Making, roots: Callable[[], Iterable[RootCall]]) -> None:
        self.models: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        # The layer that a parameter belongs to.
        self.owners: dict[int, Any] = {}
        self._making = making
        self._roots = roots
        self._names: dict[int, str] = {}

    def of(self, parameter: Tensor) -> str:
        if id(parameter) not in self._names:
            self.learn()
        return self._names.get(id(parameter)) or f"a parameter of shape {tuple(parameter.shape)}"

    def tell(self, parameter: Tensor, name: str, owner: Any) -> None:
        """For a framework on top of torch, whose models have names of their own."""
        self._names[id(parameter)] = name
        self.owners[id(parameter)] = owner

    def learn(self) -> None:
        for root in self._roots():
            model = root.module()
            if model is not None and model not in self.models:
                self.models.add(model)
                self._making.suppose_parts_of(model)
                for prefix, part in model.named_modules():
                    for name, parameter in part._parameters.items():
                        if parameter is not None:
                            self._names.setdefault(id(parameter), f"{prefix}.{name}" if prefix else name)
                            self.owners.setdefault(id(parameter), part)
