"""The fix that brings a tensor to where the others are."""

from __future__ import annotations

import ast
from typing import Any

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene
from sleuth.dry.crashes._stray import Stray
from sleuth.findings import Fix

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
    named = stray.spelling
    if named is None:
        return None
    device = device_named(crash, named.spot, stray.wanted)
    title = f"{named.text}.to({device})"
    node = _use(named)
    if node is None:
        return Fix(title)
    return Fix(title, (_edits.put_behind(named.spot.code.co_filename, node, f".to({device})"),))


def made_there(crash: Crash, stray: Stray) -> Fix | None:
    """`device=...` in the call that made it, where the device has a name that this line can use."""
    origin = stray.origin
    if origin.code is None or origin.operation not in FACTORIES:
        return None
    node = _scene.expression(origin.code, origin.instruction)
    name = _global_device(crash, origin.code.co_filename, stray.wanted)
    if not name or not isinstance(node, ast.Call) or any(one.arg == "device" for one in node.keywords):
        return None
    if origin.code.co_name == "<module>" and not _assigned_before(origin.code.co_filename, name, node.lineno):
        return None
    edit = _edits.one_more_argument(origin.code.co_filename, node, f"device={name}")
    title = f"make it there: {ast.unparse(node.func)}(..., device={name})"
    return None if edit is None else Fix(title, (edit,))


def _global_device(crash: Crash, filename: str, wanted: str) -> str:
    for spot in _scene.users_spots(crash):
        if spot.code.co_filename == filename:
            return _name_in(crash, spot.frame.f_globals, wanted)
    return ""


def _assigned_before(filename: str, name: str, line: int) -> bool:
    tree = _scene.parsed(filename)
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name)) if tree is not None else ()
    return any(node.id == name and isinstance(node.ctx, ast.Store) and node.lineno < line for node in names)


def _use(named: _scene.Spelling) -> ast.expr | None:
    """The one mention of the name in the expression that failed."""
    around = _scene.expression(named.spot.code, named.spot.instruction)
    if around is None:
        return None
    wanted = ast.unparse(ast.parse(named.text, mode="eval").body)
    mentions = [node for node in ast.walk(around) if isinstance(node, ast.expr) and ast.unparse(node) == wanted]
    return mentions[0] if len(mentions) == 1 else None


def device_named(crash: Crash, spot: _scene.Spot, wanted: str) -> str:
    """What the user's frame calls that device; the device in quotes where it has no name for it."""
    named = _name_in(crash, spot.frame.f_locals, wanted) or _name_in(crash, spot.frame.f_globals, wanted)
    return named or f'"{wanted.removesuffix(":0")}"'


def _name_in(crash: Crash, scope: dict[str, Any], wanted: str) -> str:
    import torch

    for name, value in scope.items():
        if name.startswith("_") or not isinstance(value, torch.device | str):
            continue
        if str(value).split(":")[0] in _CARDS and crash.stage.devices.label(value) == wanted:
            return name
    return ""
