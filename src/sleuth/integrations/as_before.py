"""Models, optimisers and tensors that a function reaches by itself, put back as they were once it has run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from sleuth.program import is_users

# A trainer's list of models, a dictionary of optimisers; few hide a network deeper.
_DEEPEST = 3
# A longer list holds data.
_LONGEST = 1000


@contextmanager
def as_before(fn: Any) -> Iterator[None]:
    """Whatever the function does within to what it finds in its closure, its object or its module is undone."""
    undo = [_remembered(thing) for thing in _reached(fn)]
    try:
        yield
    finally:
        for put_back in reversed(undo):
            put_back()


def _reached(fn: Any) -> Iterator[Any]:
    """Each once: what has parameters or a state of its own."""
    todo = [(value, 0) for value in _found_by(fn)]
    seen: set[int] = set()
    while todo:
        value, depth = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if depth < _DEEPEST:
            todo += [(one, depth + 1) for one in _inside(value)]
        if isinstance(value, nn.Module):
            yield from (part for part in value.modules() if part is value or id(part) not in seen)
            seen |= {id(part) for part in value.modules()}
        elif isinstance(value, torch.Tensor) or _has_state(value):
            yield value


def _inside(value: Any) -> list[Any]:
    """What a list, a dictionary or an object of the user's own holds."""
    if isinstance(value, dict | list | tuple):
        held = value.values() if isinstance(value, dict) else value
        return list(held) if len(value) <= _LONGEST else []
    source = getattr(sys.modules.get(type(value).__module__), "__file__", None)
    is_users_own = source is not None and is_users(source) and hasattr(value, "__dict__")
    return list(vars(value).values()) if is_users_own and not isinstance(value, type) else []


def _has_state(value: Any) -> bool:
    """An optimiser, a schedule, a scaler of gradients."""
    kind = type(value)  # not the object: one that imports a library when it is asked for an attribute would do so
    return callable(getattr(kind, "state_dict", None)) and callable(getattr(kind, "step", None))


def _found_by(fn: Any) -> list[Any]:
    while hasattr(fn, "__wrapped__"):
        fn = fn.__wrapped__
    owner = getattr(fn, "__self__", None)
    plain = getattr(fn, "__func__", fn)
    found = [] if owner is None else [owner]
    for cell in getattr(plain, "__closure__", None) or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:  # not yet filled
            continue
    return [*found, *getattr(plain, "__globals__", {}).values()]


def _remembered(thing: Any) -> Callable[[], None]:
    """How to put it back."""
    if isinstance(thing, torch.Tensor):
        return _tensor(thing)
    if isinstance(thing, nn.Module):
        tensors = [*thing.parameters(recurse=False), *thing.buffers(recurse=False)]
        return _all([_attributes(thing), *(_tensor(tensor) for tensor in tensors)])
    if isinstance(thing, torch.optim.Optimizer):
        return _all([_attributes(thing), _state(thing)])
    return _attributes(thing)


def _all(undo: list[Callable[[], None]]) -> Callable[[], None]:
    def put_back() -> None:
        for one in undo:
            one()

    return put_back


def _tensor(tensor: Any) -> Callable[[], None]:
    """Its numbers, the memory they are in, its gradient and whether it wants one."""
    if tensor.grad_fn is not None or tensor.is_meta:
        return lambda: None
    memory, numbers, wants = tensor.data, tensor.detach().clone(), tensor.requires_grad
    gradient = tensor.grad
    gradient_before = None if gradient is None else gradient.detach().clone()

    def put_back() -> None:
        with torch.no_grad():
            tensor.data = memory
            tensor.data.copy_(numbers)
            tensor.requires_grad_(wants)
            tensor.grad = gradient
            if gradient is not None and gradient_before is not None:
                gradient.data.copy_(gradient_before)

    return put_back


def _attributes(thing: Any) -> Callable[[], None]:
    """The object's attributes, and what its dictionaries and lists held."""
    own = vars(thing)
    before = dict(own)
    inside = [(value, type(value)(value)) for value in own.values() if type(value) in (dict, list)]
    inside += [(value, value.copy()) for value in own.values() if isinstance(value, dict) and type(value) is not dict]

    def put_back() -> None:
        own.clear()
        own.update(before)
        for value, held in inside:
            value.clear()
            value.update(held) if isinstance(value, dict) else value.extend(held)

    return put_back


def _state(optimizer: Any) -> Callable[[], None]:
    """What an optimiser remembers of each parameter, and the settings of its groups."""
    groups = [(group, dict(group)) for group in optimizer.param_groups]
    memory = [(state, dict(state)) for state in optimizer.state.values() if isinstance(state, dict)]
    tensors = [_tensor(one) for _, state in memory for one in state.values() if isinstance(one, torch.Tensor)]

    def put_back() -> None:
        for changed, held in (*groups, *memory):
            changed.clear()
            changed.update(held)
        for one in tensors:
            one()

    return put_back
