"""An optimiser built inside the loop whose steps it makes, for a network that was there before."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell, training
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# Loops over anything else (folds, tasks, clients, settings) may want a fresh optimiser.
_EPOCH_NAMES = ("epoch", "ep", "epoch_idx", "epoch_num", "i_epoch", "n_epoch", "e")


def trace(trace: Trace) -> Iterator[Finding]:
    told: set[int] = set()
    for step in trace.of("step"):
        optimizer = training.optimizer_of(step)
        if optimizer is None or not training.is_known(optimizer) or id(optimizer) in told or not _has_memory(optimizer):
            continue
        loop = next((one for one in step.loops if id(one) == optimizer.loop), None)
        if loop is None or not _is_the_same_network(trace, optimizer, loop, step):
            continue
        at_every_step = loop is step.loops[-1]
        if not at_every_step and not _is_epoch_loop(loop):
            continue
        told.add(id(optimizer))
        yield tell.found(
            "optimizer-recreated",
            step.site,
            node=optimizer.node,
            file=optimizer.unit,
            certainty="certain" if at_every_step else "likely",
            severity="error" if at_every_step else "warning",
            chain=[
                tell.because(optimizer, "each round makes a new optimiser, with no memory of the rounds before"),
                tell.because(step.node, "its step is in the same loop", step.site.spot.file),
            ],
            fixes=[Fix("make the optimiser once, before the loop")],
        )


def _has_memory(optimizer: Value) -> bool:
    """Momentum or averages. Plain SGD has nothing to lose."""
    if not optimizer.api.startswith("torch.optim."):
        return False
    if not optimizer.api.endswith(".SGD"):
        return not optimizer.api.endswith((".LBFGS", ".SWALR"))
    momentum = optimizer.option("momentum", "2")
    return momentum is not None and bool(momentum.number())


def _is_the_same_network(trace: Trace, optimizer: Value, loop: ast.AST, step: Step) -> bool:
    """Made before the loop, and neither reset nor replaced in it; and the optimiser's settings do not change."""
    network = training.network_of(optimizer)
    file = step.site.spot.file
    if network is None or network.kind not in ("module", "instance") or network.op == "copy":
        return False
    if training.made_in(network, loop, file) or network.loop not in (0, *_outside(step, loop)):
        return False
    if any(other.act in ("load_state_dict", "unknown", "requires_grad_") for other in trace.within(loop)):
        return False
    changing = [one for key, one in optimizer.options.items() if key not in ("0", "params")]
    if any(not _is_fixed(one, loop, step) for one in changing):
        return False
    calls = (node for node in ast.walk(loop) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute))
    return not any(node.func.attr in ("apply", "reset_parameters") for node in calls)  # type: ignore[attr-defined]


def _outside(step: Step, loop: ast.AST) -> list[int]:
    return [id(one) for one in step.loops[: step.loops.index(loop)]]


def _is_fixed(setting: Value, loop: ast.AST, step: Step) -> bool:
    return setting.number() is not None or not training.depends_on_round(setting, loop, step.site.spot.file)


def _is_epoch_loop(loop: ast.AST) -> bool:
    target = getattr(loop, "target", None)
    return isinstance(target, ast.Name) and target.id.lower() in _EPOCH_NAMES
