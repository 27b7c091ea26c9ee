"""A random generator made once in a data set and used in workers, each of which has a copy in the same state."""

from __future__ import annotations

import ast

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.scopes import ClassInfo, FunctionInfo
from sleuth.source.sites import Site
from sleuth.source.values import Value

CALLS = ("torch.utils.data.DataLoader",)
_GENERATORS = (
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "numpy.random.Generator",
    "random.Random",
    "torch.Generator",
)


def call(site: Site) -> Finding | None:
    data, workers = site.operand(0, "dataset"), site.operand(5, "num_workers")
    if data is None or workers is None or not (workers.number() or 0) > 0 or not isinstance(data.info, ClassInfo):
        return None
    if "worker_init_fn" in site.keywords or "get_worker_info" in data.info.file.text:
        return None
    method = data.info.method("__getitem__") or data.info.method("__iter__")
    for name, held in data.attrs.items() if method is not None else ():
        # Generator().manual_seed(0) gives the generator back.
        made = held.inputs[0] if held.op == "call:manual_seed" and held.inputs else held
        used = _use_of(method, name) if made.api in _GENERATORS else None
        if used is not None and method is not None:
            return _told(site, held, used, method)
    return None


def _use_of(method: FunctionInfo | None, name: str) -> ast.AST | None:
    """Where a method asks self's generator for numbers."""
    if method is None or not method.parameters():
        return None
    owner = method.parameters()[0].arg
    for node in ast.walk(method.node):
        read = isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        if read and isinstance(node.value, ast.Name) and node.value.id == owner:  # type: ignore[attr-defined]
            return node
    return None


def _told(site: Site, held: Value, used: ast.AST, method: FunctionInfo) -> Finding:
    return tell.found(
        "numpy-seed-in-workers",
        site,
        certainty="likely",
        severity="warning",
        chain=[
            tell.because(held, "the generator is made once, in the main process"),
            tell.because(used, "each sample draws from it", method.file),
            tell.because(site.node, "every worker gets a copy in the same state, again in each epoch", site.spot.file),
        ],
        fixes=[Fix("make the generator in worker_init_fn, or seed it from torch.initial_seed() inside the worker")],
    )
