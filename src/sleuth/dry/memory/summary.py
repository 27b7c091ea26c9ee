"""The layers of each model in the order in which its first training forward calls them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.parameter import is_lazy

from sleuth.dry.tensors import tensors_in

if TYPE_CHECKING:
    from sleuth.dry.memory.meter import Meter
    from sleuth.dry.stage import Stage

# A table that nobody reads to its end must not fill the journal.
MOST_ROWS = 2_000
_MOST_SHAPES = 4
_DEEPEST = 3


class _Row:
    """One call of a layer; what is known only afterwards is filled in then."""

    __slots__ = ("data", "flops", "held", "module")

    def __init__(self, module: Any, data: dict[str, Any], flops: int, held: int) -> None:
        self.module = module
        self.data = data
        self.flops = flops
        self.held = held


class _Model:
    """A model that is called from outside of any other, and the rows of one call."""

    def __init__(self, root: Any, training: bool) -> None:
        self.root = weakref.ref(root)
        self.training = training
        self.names = {id(module): name for name, module in root.named_modules()}
        self.rows: list[dict[str, Any]] = []
        self.left_off = 0
        self.seen: set[int] = set()
        self.kind = type(root).__name__
        self.parameters = sum(_size(p) for p in root.parameters())


class Table:
    """Fed with every module's call; keeps those of one forward a model, a training one where there is one."""

    def __init__(self, stage: Stage, meter: Meter) -> None:
        self._stage = stage
        self._meter = meter
        self._models: list[_Model] = []
        self._rows = 0
        self._current: _Model | None = None
        self._stack: list[_Row | None] = []
        self.batch: int | None = None

    @property
    def layers(self) -> int:
        """How many layers without layers inside there are in the largest model."""
        return max((sum(row["leaf"] for row in model.rows) for model in self._models), default=0)

    def entered(self, module: Any, args: tuple[Any, ...]) -> None:
        if not self._stack:
            self._current = self._begun(module)
        model = self._current
        self._stack.append(None if model is None else self._opened(model, module, args))

    def left(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        # A forward that was left by force leaves its row behind.
        row = None
        while self._stack and (row := self._stack.pop()) is not None and row.module is not module:
            pass
        if self._current is not None and row is not None:
            self._close(row, (args, kwargs), output)
        if not self._stack:
            if self._current is not None and self._current.training and self.batch is None:
                dealt = getattr(self._stage, "dealt", None)
                self.batch = _first_size((args, kwargs)) if dealt is None else dealt.size
            self._current = None

    def _begun(self, root: Any) -> _Model | None:
        training = bool(root.training and torch.is_grad_enabled())
        for index, model in enumerate(self._models):
            if model.root() is root:
                if model.training or not training:
                    return None
                self._models[index] = again = _Model(root, training)
                return again
        if self._rows >= MOST_ROWS:
            return None
        model = _Model(root, training)
        self._models.append(model)
        return model

    def _opened(self, model: _Model, module: Any, args: tuple[Any, ...]) -> _Row | None:
        if self._rows >= MOST_ROWS:
            model.left_off += 1
            return None
        self._rows += 1
        again = id(module) in model.seen
        model.seen.add(id(module))
        data = {
            "name": model.names.get(id(module), ""),
            "kind": type(module).__name__,
            "depth": len(self._stack),
            "leaf": next(module.children(), None) is None,
            "again": again,
            "input": _shapes(args),
            "output": None,
            "parameters": sum(_size(p) for p in module.parameters()),
            "flops": None,
            "activations": None,
            "device": None,
            "dtype": None,
        }
        model.rows.append(data)
        return _Row(module, data, self._meter.flops, self._meter.ledger.held)

    def _close(self, row: _Row, given: Any, output: Any) -> None:
        row.data["input"] = _shapes(given)
        if output is None:
            return
        row.data["output"] = _shapes(output)
        row.data["flops"] = self._meter.flops - row.flops
        row.data["activations"] = max(0, self._meter.ledger.held - row.held)
        first = next(tensors_in(output), None)
        if first is not None:
            row.data["device"] = str(first.device)
            row.data["dtype"] = str(first.dtype).removeprefix("torch.")

    def told(self) -> dict[str, Any]:
        return {
            "models": [
                {
                    "kind": model.kind,
                    "training": model.training,
                    "parameters": model.parameters,
                    "rows": model.rows,
                    "left off": model.left_off,
                }
                for model in self._models
                if model.rows
            ]
        }

    def write(self) -> None:
        self._stage.journal.write("table", **self.told())


def _shapes(value: Any) -> list[list[int]]:
    """The shapes of the first few tensors."""
    found = []
    for tensor in tensors_in(value):
        found.append([int(size) for size in tensor.shape])
        if len(found) == _MOST_SHAPES:
            break
    return found


def _first_size(value: Any) -> int | None:
    first = next((tensor for tensor in tensors_in(value) if tensor.dim()), None)
    return None if first is None else int(first.shape[0])


def _size(parameter: Any) -> int:
    return 0 if is_lazy(parameter) else int(parameter.numel())
