"""A learning rate of 0 that nothing raises, or a warm-up whose integer division keeps it at 0."""

from __future__ import annotations

import ast
import re

from sleuth.findings import Finding, Fix
from sleuth.source import hyperparameters, tell
from sleuth.source.scopes import FunctionInfo
from sleuth.source.sites import Site

_LAMBDA = "torch.optim.lr_scheduler.LambdaLR"
CALLS = (*hyperparameters.OPTIMIZERS, _LAMBDA)
# Words of whatever may set the rate afterwards.
_SETS_THE_RATE = re.compile(
    r"sched|param_groups|adjust|warm|set_lr|set_learning_rate|anneal|inject_hyperparams|noam", re.I
)


def call(site: Site) -> Finding | None:
    return _warm_up(site) if site.name == _LAMBDA else _made_with_zero(site)


def _made_with_zero(site: Site) -> Finding | None:
    given = hyperparameters.given(site.result, "rate")
    if given is None or given.number() != 0 or _SETS_THE_RATE.search(site.spot.file.text):
        return None
    return tell.found(
        "learning-rate-zero",
        site,
        chain=[tell.because(given, "this comes to 0", site.spot.file)],
        fixes=[Fix("give a learning rate above 0; write / instead of // where one is divided")],
    )


def _warm_up(site: Site) -> Finding | None:
    factor = site.operand(1, "lr_lambda")
    division = (
        _floor_division_in_min(factor.info) if factor is not None and isinstance(factor.info, FunctionInfo) else None
    )
    if factor is None or division is None:
        return None
    file = factor.info.file
    edit = tell.between(file, division.left, division.right, " / ")
    return tell.found(
        "learning-rate-zero",
        site,
        title="the warm-up is 0 until its last step, because // rounds down",
        certainty="likely",
        severity="warning",
        chain=[tell.because(division, "this is 0 for all of the warm-up", file)],
        fixes=[Fix("divide with /", (edit,))],
    )


def _floor_division_in_min(function: FunctionInfo) -> ast.BinOp | None:
    """`min(1, step // steps)`, where step is the function's parameter."""
    parameters = {one.arg for one in function.parameters()}
    for node in ast.walk(function.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
            for given in node.args:
                if (
                    isinstance(given, ast.BinOp)
                    and isinstance(given.op, ast.FloorDiv)
                    and _speaks_of(given.left, parameters)
                ):
                    return given
    return None


def _speaks_of(node: ast.expr, names: set[str]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(node))
