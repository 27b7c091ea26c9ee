"""The parameters that a loss depends on, as its graph knows them."""

from __future__ import annotations

from typing import Any

from torch import nn


def parameters_below(roots: list[Any]) -> dict[int, Any]:
    """Every parameter that would get a gradient from these tensors, by its id."""
    found = {id(root): root for root in roots if root.grad_fn is None and isinstance(root, nn.Parameter)}
    todo = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen = set(todo)
    while todo:
        node = todo.pop()
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, nn.Parameter):
            found[id(leaf)] = leaf
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return found


def parameters_of(optimizer: Any) -> list[Any]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]
