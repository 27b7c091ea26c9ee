"""The fix that brings a tensor to where the others are."""

from __future__ import annotations

import ast
from typing import Any

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _history, _scene, _use
from sleuth.dry.crashes._stray import Stray
from sleuth.findings import Edit, Fix

_CARDS = ("cuda", "mps", "xpu")
# What makes a tensor of nothing, and takes a device.
FACTORIES = {
    *(
        "zeros",
        "ones",
        "full",
        "empty",
        "rand",
        "randn",
        "randint",
        "randperm",
        "arange",
        "linspace",
        "logspace",
        "eye",
    ),
    *("tensor", "as_tensor", "tril_indices", "triu_indices", "normal", "hann_window"),
}


def to_the_others(crash: Crash, stray: Stray) -> Fix | None:
    """`.to(device)` at the place where the tensor is used, by the names the user has for it and for the device."""
    if stray.spelling is None:
        return None
    device = device_named(crash, stray.spelling.spot, stray.wanted)
    return _use.followed_by(crash, stray.birth, f".to({device})", "")


def made_there(crash: Crash, stray: Stray) -> Fix | None:
    """`device=...` in the calls that made them, where the device has a name that these lines can use."""
    edits = {_edit(crash, _history.source(birth), stray.wanted) for birth in stray.all}
    if None in edits or not edits:
        return None
    found = sorted((edit for edit in edits if edit is not None), key=lambda edit: (edit.line, edit.column))
    return Fix(f"make {'it' if len(found) == 1 else 'them'} there:{found[0].replacement[1:]}", tuple(found))


def _edit(crash: Crash, origin: Birth, wanted: str) -> Edit | None:
    if origin.code is None or origin.operation not in FACTORIES:
        return None
    node = _scene.expression(origin.code, origin.instruction)
    name = _global_device(crash, origin.code.co_filename, wanted)
    if not name or not isinstance(node, ast.Call) or any(one.arg == "device" for one in node.keywords):
        return None
    if origin.code.co_name == "<module>" and not _assigned_before(origin.code.co_filename, name, node.lineno):
        return None
    return _edits.one_more_argument(origin.code.co_filename, node, f"device={name}")


def _global_device(crash: Crash, filename: str, wanted: str) -> str:
    for spot in _scene.users_spots(crash):
        if spot.code.co_filename == filename:
            return _name_in(crash, spot.frame.f_globals, wanted)
    return ""


def _assigned_before(filename: str, name: str, line: int) -> bool:
    tree = _scene.parsed(filename)
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name)) if tree is not None else ()
    return any(node.id == name and isinstance(node.ctx, ast.Store) and node.lineno < line for node in names)


def device_named(crash: Crash, spot: _scene.Spot, wanted: str) -> str:
    """What the user's frame calls that device, or where a model that it knows is; the device in quotes where there is
    neither, since that would tie the program to it."""
    scopes = (spot.frame.f_locals, spot.frame.f_globals)
    ways = (way(crash, scope, wanted) for way in (_name_in, _model_in) for scope in scopes)
    return next(filter(None, ways), f'"{wanted.removesuffix(":0")}"')


def _name_in(crash: Crash, scope: dict[str, Any], wanted: str) -> str:
    import torch

    for name, value in scope.items():
        if name.startswith("_") or not isinstance(value, torch.device | str):
            continue
        if str(value).split(":")[0] in _CARDS and crash.stage.devices.label(value) == wanted:
            return name
    return ""


def _model_in(crash: Crash, scope: dict[str, Any], wanted: str) -> str:
    from torch.nn import Module

    for name, value in scope.items():
        if isinstance(value, Module):
            weight = next(value.parameters(), None)
            birth = crash.stage.births[weight] if weight is not None else None
            if birth is not None and birth.device == wanted:
                return f"next({name}.parameters()).device"
    return ""
