"""`torch.zeros(...).to(device)`: made on the CPU and copied, where `device=` makes it in place."""

from __future__ import annotations

import ast
from typing import Final

from sleuth.findings import Edit, Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Site

_FILLED: Final = ("zeros", "ones", "full", "empty", "arange", "eye", "linspace")
_RANDOM: Final = ("rand", "randn", "randint", "randperm")
CALLS = ("tensor.to", "tensor.cuda")


def call(site: Site) -> Finding | None:
    made = site.node.func.value if isinstance(getattr(site.node, "func", None), ast.Attribute) else None
    value = site.receiver
    if not isinstance(made, ast.Call) or value is None or value.node is not made or not value.api.startswith("torch."):
        return None
    name = value.api.removeprefix("torch.")
    if name not in (*_FILLED, *_RANDOM) or any(
        k.arg in ("device", "requires_grad", "out", None) for k in made.keywords
    ):
        return None
    device = _device(site)
    if device is None or any(isinstance(argument, ast.Starred) for argument in made.args):
        return None
    file = site.spot.file
    return tell.found(
        "factory-then-to-device",
        site,
        certainty="hint",
        severity="note",
        title=f"torch.{name} fills memory of the CPU, then copies it",
        fixes=[
            Fix(
                f"torch.{name}(..., device={device})",
                (tell.add_argument(file, made, f"device={device}"), _rest_removed(site, made)),
                # A GPU draws other random numbers than the CPU does from the same seed.
                safe=name in _FILLED,
            )
        ],
    )


def _device(site: Site) -> str | None:
    """The device as written, where the move says nothing else."""
    call = site.node
    if site.name == "tensor.cuda":
        return '"cuda"' if not call.args and not call.keywords else None
    if len(call.args) != 1 or call.keywords or site.star:
        return None
    argument, value = call.args[0], site.args[0]
    known = value.kind == "device" or (isinstance(value.const, str) and value.const.startswith(("cuda", "cpu", "mps")))
    named = (isinstance(argument, ast.Name) and argument.id == "device") or (
        isinstance(argument, ast.Attribute) and argument.attr == "device"
    )
    return site.spot.file.source(argument) if known or (named and value.kind != "tensor") else None


def _rest_removed(site: Site, made: ast.Call) -> Edit:
    file = site.spot.file
    _, (line, column) = file.span(made)
    _, (end_line, end_column) = file.span(site.node)
    return Edit(file.shown, line, column, end_line, end_column, "")
