"""The inner values of a model that cannot be written down as a graph: what each of its layers gives back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection
from contextlib import ExitStack
from functools import partial
from typing import Any

from torch import Tensor, nn

from sleuth.compare.reference import Reference, as_array
from sleuth.compare.values import Captured, Value


def captured(
    model: nn.Module,
    layers: Collection[str],
    call: Callable[[], list[Tensor]],
    graph: Reference,
    wanted: Collection[str] | None,
) -> Captured:
    """`layers` are those that the graph of the reference knows by the same names."""
    results = Captured([])
    partners = _Partners(graph)

    def keep(path: str, module: nn.Module, given: Any, answer: Any) -> None:
        for place, tensor in _tensors(answer):
            value = partners.next(path, place)
            if value is not None and (wanted is None or value.name in wanted):
                results.values.append(value)
                results.arrays[value.name] = as_array(tensor)

    with ExitStack() as hooks:
        for path, module in model.named_modules():
            if path in layers:
                hooks.callback(module.register_forward_hook(partial(keep, path)).remove)
        results.outputs = [as_array(one) for one in call()]
    return results


class _Partners:
    """For every call of a layer, in order, the node of the reference that holds the same result."""

    def __init__(self, graph: Reference) -> None:
        self._graph = graph
        self._calls: dict[tuple[str, int | None], list[str]] = defaultdict(list)
        self._made: dict[tuple[str, int | None], int] = defaultdict(int)
        for name in graph.names:
            value = graph.value(name)
            if value.layer and all(graph.value(user).layer != value.layer for user in graph.users(name)):
                self._calls[value.layer, _place(graph, name)].append(name)

    def next(self, path: str, place: int | None) -> Value | None:
        number = self._made[path, place]
        self._made[path, place] += 1
        names = self._calls[path, place]
        if number >= len(names):
            return None
        found = self._graph.value(names[number])
        return Value(found.name, found.op, found.layer, found.place, found.name)


def _place(graph: Reference, name: str) -> int | None:
    """Which part of an answer of several this is."""
    node = graph.nodes[name]
    return int(node.args[1]) if graph.value(name).op == "getitem" and isinstance(node.args[1], int) else None


def _tensors(answer: Any) -> list[tuple[int | None, Tensor]]:
    """With their places in an answer of several, counted as the operation itself gives them, without nesting."""
    if isinstance(answer, Tensor):
        return [(None, answer)]
    flat: list[Any] = []
    open_ends = [answer]
    while open_ends:
        one = open_ends.pop(0)
        if isinstance(one, list | tuple):
            open_ends = [*one, *open_ends]
        else:
            flat.append(one)
    return [(place, one) for place, one in enumerate(flat) if isinstance(one, Tensor)]
