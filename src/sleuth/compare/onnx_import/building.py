"""The graph as it grows: every value is a node with an example of its numbers, or a constant that is known already."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, fx
from torch.utils._pytree import tree_leaves, tree_map

aten = torch.ops.aten

# These only move numbers, so that a constant can go through them in its own precision.
_MOVES = frozenset(
    "view reshape permute transpose t slice select index_select cat stack unsqueeze squeeze expand flatten clone split "
    "split_with_sizes flip tril triu unbind repeat contiguous gather index narrow".split()
)
_RANDOM = frozenset("rand randn rand_like randn_like bernoulli dropout uniform normal multinomial".split())


@dataclass(eq=False, slots=True)
class Traced:
    """One value. `example` is what it is on the batch, `exact` what it is on every batch, where that is so."""

    example: Any
    node: fx.Node | None = None
    exact: Any = None
    name: str = ""

    @property
    def constant(self) -> bool:
        return self.exact is not None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.example.shape)

    @property
    def rank(self) -> int:
        return int(self.example.ndim)

    @property
    def dtype(self) -> torch.dtype:
        found: torch.dtype = self.example.dtype
        return found

    @property
    def floating(self) -> bool:
        return bool(self.example.is_floating_point())


@dataclass(slots=True)
class Builder:
    """All floating-point numbers are of one type, `real`, as they will be when the graph is run as a reference."""

    real: torch.dtype = torch.float32
    graph: fx.Graph = field(default_factory=fx.Graph)
    weights: dict[str, Tensor] = field(default_factory=dict)
    # Of the ONNX node that is being translated: what its values are called and where it comes from.
    scope: str = ""
    meta: dict[str, Any] = field(default_factory=dict)
    # Why the graph holds for this batch alone, where its course hangs on the batch's numbers.
    batch_bound: list[str] = field(default_factory=list)
    # Whether some of the int64 numbers are unsigned integers of another width in ONNX.
    widened: bool = False
    # What the ONNX node that is being translated has made, and has not named yet.
    _fresh: set[fx.Node | Traced] = field(default_factory=set)
    _taken: set[str] = field(default_factory=set)

    def begin(self, scope: str, meta: dict[str, Any]) -> None:
        """What follows belongs to another ONNX node."""
        self.scope, self.meta = scope, meta
        self._fresh.clear()

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Traced:
        """One operation; at once where all it takes is constant."""
        values = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Traced)]
        example = target(*_examples(args), **_examples(kwargs))
        if all(value.constant for value in values) and _op(target) not in _RANDOM:
            return self._known(example, _exactly(target, args, kwargs, example), _joined(self.scope, _op(target)))
        made_args, made_kwargs = tree_map(self._argument, (args, kwargs))
        name = valid(_joined(self.scope, _op(target)))
        node = self.graph.create_node("call_function", target, tuple(made_args), made_kwargs, name=name)
        node.meta.update(self.meta)
        if isinstance(example, Tensor):
            node.meta["shape"] = tuple(example.shape)
        self._fresh.add(node)
        return Traced(example, node, name=node.name)

    def item(self, several: Traced, place: int) -> Traced:
        """One of the results of an operation that has several."""
        if several.constant:
            return self._known(several.example[place], several.exact[place], f"{several.name}_{place}")
        return self.call(operator.getitem, several, place)

    def constant(self, tensor: Tensor, name: str = "") -> Traced:
        tensor = self._plain(tensor)
        example = tensor.to(self.real) if tensor.is_floating_point() else tensor
        return self._known(example, tensor, name or _joined(self.scope, "constant"))

    def ints(self, numbers: Sequence[int]) -> Traced:
        return self.constant(torch.tensor(list(numbers), dtype=torch.int64))

    def node(self, value: Traced) -> fx.Node:
        """The value's node; a constant gets one when it is first needed."""
        if value.node is None:
            path = self._path(value.name)
            self.weights[path] = value.exact.contiguous()
            value.node = self.graph.create_node("get_attr", path, name=valid(path))
        return value.node

    def placeholder(self, name: str, example: Tensor) -> Traced:
        node = self.graph.placeholder(valid(name))
        node.meta["shape"] = tuple(example.shape)
        tensor = self._plain(example)
        return Traced(tensor.to(self.real) if tensor.is_floating_point() else tensor, node, name=node.name)

    def name(self, value: Traced, name: str) -> None:
        """Call it as ONNX does, unless it has a name already: an Identity gives a value a second one."""
        if value in self._fresh:
            value.name = name
        elif value.node is not None and value.node in self._fresh:
            value.node._rename(valid(name))
        self._fresh -= {value, value.node}

    def unname(self, value: Traced) -> None:
        """It may be named once more."""
        self._fresh.add(value if value.node is None else value.node)

    def keep_name(self, value: Traced, source: Traced) -> Traced:
        """A constant that is another one turned about is still that layer's weight."""
        if value.constant and source.name:
            value.name = source.name
            self._fresh.discard(value)
        return value

    def _known(self, example: Any, exact: Any, name: str) -> Traced:
        made = Traced(example, exact=exact, name=name)
        self._fresh.add(made)
        return made

    def _plain(self, tensor: Tensor) -> Tensor:
        """In a type that PyTorch computes in; unsigned integers wider than a byte become int64."""
        if tensor.dtype in (torch.uint16, torch.uint32, torch.uint64):
            self.widened = True
            return tensor.to(torch.int64)
        if tensor.is_floating_point() and tensor.dtype not in (torch.float32, torch.float64):
            return tensor.to(torch.float32)
        return tensor

    def _argument(self, leaf: Any) -> Any:
        return self.node(leaf) if isinstance(leaf, Traced) else leaf

    def _path(self, name: str) -> str:
        """A dotted name that is free: no weight may be called as a part of another's path is."""
        parts = [re.sub(r"\W", "_", part) or "_" for part in (name or "constant").split(".")]
        path, count = ".".join(parts), 0
        while path in self._taken or any(above in self.weights for above in _above(path)):
            count += 1
            path = "_".join([*parts, str(count)])
        self._taken |= {path, *_above(path)}
        return path


def _above(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def valid(name: str) -> str:
    """A name that Python takes."""
    cleaned = re.sub(r"\W", "_", name)
    return cleaned if re.match(r"[A-Za-z_]", cleaned) else f"_{cleaned}"


def _examples(arguments: Any) -> Any:
    return tree_map(lambda leaf: leaf.example if isinstance(leaf, Traced) else leaf, arguments)


def _exactly(target: Any, args: Any, kwargs: Any, example: Any) -> Any:
    """A constant's value, in float64 where it is computed; whole numbers are as the runtime gets them."""
    results = [leaf for leaf in tree_leaves(example) if isinstance(leaf, Tensor)]
    if not any(result.is_floating_point() for result in results):
        return example
    moves = _op(target) in _MOVES

    def exact(leaf: Any) -> Any:
        if isinstance(leaf, torch.dtype):
            return torch.float64 if leaf.is_floating_point else leaf
        if not isinstance(leaf, Traced):
            return leaf
        tensor = leaf.exact
        return tensor if moves or not tensor.is_floating_point() else tensor.to(torch.float64)

    wide_args, wide_kwargs = tree_map(exact, (args, kwargs))
    return target(*wide_args, **wide_kwargs)


def _op(target: Any) -> str:
    if isinstance(target, torch._ops.OpOverload):
        return str(target._schema.name).partition("::")[2]
    return str(target.__name__)


def _joined(scope: str, op: str) -> str:
    return f"{scope}_{op}" if scope else op
