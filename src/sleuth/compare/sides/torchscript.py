"""A TorchScript file, in PyTorch's own interpreter for it."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sleuth.compare.reference import Reference, as_array, as_tensor
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.sides.torchscript_values import telling
from sleuth.compare.values import Array, Batch, Captured


class TorchScriptSide(Side):
    """Set to evaluation; its inner values are told by a copy of its graph that gives them all back."""

    def __init__(self, source: str | Path | torch.jit.ScriptModule, title: str = "") -> None:
        self.path = "" if isinstance(source, torch.jit.ScriptModule) else str(source)
        self.title = title or self.path or "the scripted module"
        self.runtime = f"PyTorch {torch.__version__}, TorchScript"
        self.model: Any = copy.deepcopy(source) if isinstance(source, torch.jit.ScriptModule) else _loaded(source)
        if hasattr(self.model, "training"):  # a frozen one has no mode of its own any more
            self.model.eval()
        self._references: dict[Any, Reference | None] = {}

    def run(self, batch: Batch) -> list[Array]:
        try:
            with torch.no_grad():
                result = self.model(*map(as_tensor, batch))
        except Exception as problem:
            raise CannotCompare(f"{self.title} cannot be run on these inputs: {_last_line(problem)}") from None
        leaves = torch.utils._pytree.tree_leaves(result)
        return [as_array(leaf) for leaf in leaves if isinstance(leaf, Tensor)]

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        drawn = torch.get_rng_state()
        outputs = self.run(batch)
        asked = telling(self.model)
        if asked is None:
            return Captured(outputs)
        torch.set_rng_state(drawn)  # where dropout was traced, the two runs must drop the same values
        try:
            with torch.no_grad():
                values, arrays = asked(*map(as_tensor, batch))
        except RuntimeError:  # this graph depends on something that only the whole module has
            return Captured(outputs)
        kept = [value for value in values if wanted is None or value.name in wanted]
        return Captured(outputs, kept, {value.name: arrays[value.name] for value in kept})

    def reference(self, batch: Batch) -> Reference | None:
        key = tuple((array.shape, array.dtype.name) for array in batch)
        if key not in self._references:
            self._references[key] = _written_down(self.model, tuple(map(as_tensor, batch)))
        return self._references[key]

    def weights(self) -> Mapping[str, Array]:
        return {name: as_array(tensor) for name, tensor in self.model.state_dict().items()}

    @property
    def size(self) -> int | None:
        return os.path.getsize(self.path) if self.path else super().size


def _loaded(path: str | Path) -> Any:
    if not os.path.exists(path):
        raise CannotCompare(f"there is no file {path}")
    try:
        with quietly():
            model: Any = torch.jit.load(str(path), map_location="cpu")
    except Exception as problem:
        first = str(problem).strip().splitlines()[0].split(". ")[0]
        raise CannotCompare(f"{path} cannot be read as TorchScript: {first}") from None
    return model


def _written_down(model: Any, arguments: tuple[Tensor, ...]) -> Reference | None:
    """As a graph of operations: by PyTorch's own converter, or else as it runs."""
    try:
        from torch._export.converter import TS2EPConverter

        with quietly():
            return Reference.of_exported(TS2EPConverter(model, arguments).convert())
    except Exception:  # the converter is partial, and private
        try:
            return Reference.of(model, arguments)
        except CannotCompare:
            return None


def _last_line(problem: Exception) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[-1] if lines else type(problem).__name__
