"""The frames in which a program failed: the user's line, what its expression names, the layer that was at work."""

from __future__ import annotations

import ast
import dis
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from sleuth.findings import Place
from sleuth.live.crashes.arrays import are_arrays, is_array
from sleuth.program import is_ours, is_users, place_of, place_of_error

_FUNCTIONAL = os.path.join("torch", "nn", "functional.py")
_CONTAINERS = ("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel")


@dataclass(frozen=True, slots=True)
class Spot:
    """A frame of the traceback and the instruction it had come to."""

    frame: FrameType
    instruction: int

    @property
    def code(self) -> CodeType:
        return self.frame.f_code

    @property
    def values(self) -> dict[str, Any]:
        return self.frame.f_locals

    @property
    def is_users(self) -> bool:
        return is_users(self.code.co_filename)

    def is_in(self, part: str) -> bool:
        return part in self.code.co_filename


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of torch's own, by its name in the model it belongs to, with the tensors its methods were given."""

    module: Any
    name: str
    given: dict[str, Any]

    @property
    def kind(self) -> str:
        return type(self.module).__name__

    @property
    def called(self) -> str:
        """`fc1 (Linear)`; `2` alone is no name for a person."""
        if not self.name:
            return self.kind
        return f"{'layer ' if self.name[:1].isdigit() else ''}{self.name} ({self.kind})"


class Scene:
    """Of one error. Holds its frames, so it must not outlive the report."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.spots = [spot for spot in _spots(error) if not is_ours(spot.code.co_filename)]

    @cached_property
    def place(self) -> Place | None:
        """The user's innermost line."""
        return place_of_error(self.error)

    @property
    def is_deliberate(self) -> bool:
        """Does the user's own code raise it, by `raise` or `assert`?"""
        if not self.spots or not self.spots[-1].is_users:
            return False
        last = self.spots[-1]
        return dis.opname[last.code.co_code[last.instruction]] == "RAISE_VARARGS"

    @cached_property
    def inside(self) -> list[Spot]:
        """The library's frames below the user's innermost one."""
        return self.spots[self._users_last + 1 :]

    @property
    def users(self) -> Spot | None:
        return self.spots[self._users_last] if self._users_last >= 0 else None

    @cached_property
    def _users_last(self) -> int:
        return max((number for number, spot in enumerate(self.spots) if spot.is_users), default=-1)

    @cached_property
    def layer(self) -> Layer | None:
        """The innermost layer of torch's own that was at work."""
        at_work = [spot for spot in self.inside if _is_layer(spot.values.get("self"))]
        if not at_work:
            return None
        module = at_work[-1].values["self"]
        if not any(spot.code.co_name == "forward" and spot.values["self"] is module for spot in at_work):
            # It is being made, or loaded.
            return None
        weights = {id(tensor) for tensor in (*module.parameters(), *module.buffers())}
        given = {}
        for spot in at_work:
            if spot.values["self"] is module:
                arguments = _arguments(spot)
                given.update({name: one for name, one in arguments.items() if id(one) not in weights})
        return Layer(module, self._name(module), given)

    def _name(self, module: Any) -> str:
        variables = _variables(self.users) if self.users is not None else {}
        around: list[Any] = [spot.values.get("self") for spot in self.spots] + list(variables.values())
        for root in around:
            if _is_module(root) and root is not module:
                for name, part in root.named_modules():
                    if part is module:
                        return str(name)
        return next((name for name, value in variables.items() if value is module), "")

    @property
    def function(self) -> str:
        """The function of torch.nn.functional that failed, "" where it was none."""
        called = [spot.code.co_name for spot in self.inside if spot.is_in(_FUNCTIONAL)]
        return called[-1].strip("_") if called else ""

    @property
    def is_of_a_loss(self) -> bool:
        return "loss" in self.function or "entropy" in self.function

    @cached_property
    def given(self) -> dict[str, Any]:
        """The tensors that the library's function was given, by the names of its arguments."""
        if self.layer is not None:
            return self.layer.given
        for spot in reversed(self.inside):
            found = _arguments(spot)
            if found:
                return found
        return {}

    @cached_property
    def expression(self) -> ast.AST | None:
        """What failed in the user's line, as exactly as this Python version tells."""
        if self.users is None:
            return None
        code = place_of(self.users.code, self.users.instruction).code or ""
        for text in (code, f"{code}\n    pass"):
            try:
                return ast.parse(text)
            except SyntaxError:
                continue
        return None

    @cached_property
    def named(self) -> dict[str, Any]:
        """What the variables hold that this expression names, in its order: `x`, `self.mask`, `batch["label"]`."""
        if self.expression is None or self.users is None:
            return {}
        variables = _variables(self.users)
        found: dict[str, Any] = {}
        for node in ast.walk(self.expression):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
                value = _looked_up(node, variables)
                if value is not None:
                    found.setdefault(ast.unparse(node), value)
        return found

    @property
    def operands(self) -> dict[str, Any]:
        """The tensors that met, each by the user's own name where it has one."""
        spelled = {id(value): name for name, value in self.named.items()}
        found = {name: value for name, value in self.named.items() if is_array(value) or are_arrays(value)}
        whose = self.layer.called if self.layer is not None else self.function
        for name, value in self.given.items():
            # What other functions of a library call things says nothing to whoever called them something else.
            if id(value) not in spelled and (whose or not found):
                found[f"{name} of {whose}" if whose else name] = value
        return found


def _spots(error: BaseException) -> Iterator[Spot]:
    traceback = error.__traceback__
    while traceback is not None:
        yield Spot(traceback.tb_frame, traceback.tb_lasti)
        traceback = traceback.tb_next


def _arguments(spot: Spot) -> dict[str, Any]:
    code, values = spot.code, spot.values
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {name: values[name] for name in names if name != "self" and is_array(values.get(name))}


def _variables(spot: Spot) -> dict[str, Any]:
    return {**spot.frame.f_globals, **spot.values}


def _is_module(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)


def _is_layer(value: Any) -> bool:
    kind = type(value)
    return _is_module(value) and kind.__module__.startswith("torch.nn.") and kind.__name__ not in _CONTAINERS


def _looked_up(node: ast.AST, variables: dict[str, Any]) -> Any:
    """What the expression stands for, found without running any code of the user's; None where that cannot be."""
    if isinstance(node, ast.Name):
        return variables.get(node.id)
    if isinstance(node, ast.Attribute):
        return _attribute(_looked_up(node.value, variables), node.attr)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return _item(_looked_up(node.value, variables), node.slice.value)
    return None


def _attribute(owner: Any, name: str) -> Any:
    held = getattr(owner, "__dict__", None)
    if not isinstance(held, dict):
        return None
    for group in (held, *(held.get(kind) for kind in ("_parameters", "_buffers", "_modules"))):
        if isinstance(group, dict) and name in group:
            return group[name]
    return None


def _item(owner: Any, key: Any) -> Any:
    # A batch of Hugging Face is a UserDict.
    held = owner.__dict__.get("data") if hasattr(owner, "__dict__") and not is_array(owner) else owner
    if type(held) is dict:
        return held.get(key)
    if type(held) in (list, tuple) and isinstance(key, int) and -len(held) <= key < len(held):
        return held[key]
    return None
