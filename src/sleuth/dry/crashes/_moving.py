"""The fix that brings a tensor to where the others are."""

from __future__ import annotations

import ast
from typing import Any

from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _edits, _scene
from sleuth.dry.crashes._stray import Stray
from sleuth.findings import Fix


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
    import torch

    def fits(value: Any) -> bool:
        if not isinstance(value, torch.device | str) or str(value).split(":")[0] not in ("cuda", "mps", "xpu"):
            return False
        return crash.stage.devices.label(value) == wanted

    for scope in (spot.frame.f_locals, spot.frame.f_globals):
        for name, value in scope.items():
            if not name.startswith("_") and fits(value):
                return name
    return f'"{wanted.removesuffix(":0")}"'
