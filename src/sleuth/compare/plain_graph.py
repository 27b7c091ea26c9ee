"""An exported graph made plain: blocks under `autocast` and `no_grad` opened up, assertions about dtypes left out,
stacked recurrent layers taken apart."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from sleuth.compare.stacked import apart

_BLOCKS = ("wrap_with_autocast", "wrap_with_set_grad_enabled")


def plain(module: fx.GraphModule) -> fx.GraphModule:
    """The same module, changed: every operation stands in the one graph, where it can be computed in any precision."""
    while blocks := [node for node in module.graph.nodes if _is_block(node)]:
        for node in blocks:
            _open(module, node)
    for node in list(module.graph.nodes):
        if _insists(node):
            module.graph.erase_node(node)
    apart(module)
    return module


def _is_block(node: fx.Node) -> bool:
    return node.op == "call_function" and str(getattr(node.target, "__name__", "")) in _BLOCKS


def _insists(node: fx.Node) -> bool:
    target: Any = node.target
    is_operation = isinstance(target, torch._ops.OpOverload)
    return is_operation and target._schema.name.startswith("aten::_assert_") and not node.users


def _open(module: fx.GraphModule, node: fx.Node) -> None:
    """Its operations in its place, and its results straight to those who used them."""
    place, holder = next(
        (place, one) for place, one in enumerate(node.args) if isinstance(one, fx.Node) and one.op == "get_attr"
    )
    inner = module.get_submodule(str(holder.target))
    assert isinstance(inner, fx.GraphModule)
    placeholders = [one for one in inner.graph.nodes if one.op == "placeholder"]
    known: dict[fx.Node, Any] = dict(zip(placeholders, node.args[place + 1 :], strict=True))
    with module.graph.inserting_before(node):
        for one in inner.graph.nodes:
            if one.op == "get_attr":
                known[one] = _shared(module, inner, str(one.target), f"{holder.target}_{one.target}")
        results: Any = module.graph.graph_copy(inner.graph, known)
    for user in list(node.users):
        if user.target is operator.getitem and isinstance(results, list | tuple):
            number: Any = user.args[1]
            user.replace_all_uses_with(results[number])
            module.graph.erase_node(user)
        else:
            user.replace_input_with(node, results[0] if isinstance(results, list | tuple) else results)
    module.graph.erase_node(node)
    if not holder.users:
        module.graph.erase_node(holder)


def _shared(module: fx.GraphModule, inner: fx.GraphModule, name: str, new: str) -> fx.Node:
    found: Any = inner
    for part in name.split("."):
        found = getattr(found, part)
    own = new.replace(".", "_")
    setattr(module, own, found)
    return module.graph.get_attr(own)
