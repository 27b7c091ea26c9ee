"""What the acts of a trace tell about a training loop: whose step it is, which loop repeats it, what happens when."""

from __future__ import annotations

import ast
import re
from typing import Final

from sleuth.source.scopes import File
from sleuth.source.sites import Step
from sleuth.source.values import Value, ancestors, same

BACKWARD: Final = ("backward", "manual_backward")
CLIPS: Final = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grads_with_norm_")
# What a parameter or attribute is called that nothing else is known of.
_CALLED_OPTIMIZER: Final = re.compile(r"(?:param|attr):(?:\w*_)?optim(?:izer)?(?:_\w*)?")
_STATEFUL_LAYERS: Final = frozenset(
    "torch.nn.Dropout torch.nn.Dropout1d torch.nn.Dropout2d torch.nn.Dropout3d torch.nn.AlphaDropout "
    "torch.nn.FeatureAlphaDropout torch.nn.BatchNorm1d torch.nn.BatchNorm2d torch.nn.BatchNorm3d "
    "torch.nn.SyncBatchNorm".split()
)
# Families of torchvision's networks, each of which has BatchNorm or an active dropout.
_STATEFUL_NETWORKS: Final = (
    "resnet",
    "resnext",
    "wide_resnet",
    "densenet",
    "vgg",
    "alexnet",
    "inception",
    "googlenet",
    "mobilenet",
    "shufflenet",
    "mnasnet",
    "efficientnet",
    "squeezenet",
    "regnet",
)
_DEEPEST_NETWORK: Final = 6


def optimizer_of(step: Step) -> Value | None:
    """The optimiser that a `step` act moves; None for schedulers, environments, closures and what we do not know."""
    receiver, site = step.receiver, step.site
    if step.act != "step" or receiver is None:
        return None
    if receiver.kind == "scaler":
        given = site.args[0] if site.args else site.keywords.get("optimizer")
        return given if given is not None and is_optimizer(given) else None
    return receiver if is_optimizer(receiver) and not site.args and not site.keywords and not site.star else None


def is_optimizer(value: Value) -> bool:
    return value.kind == "optimizer" or (value.kind == "?" and bool(_CALLED_OPTIMIZER.fullmatch(value.op)))


def is_known(optimizer: Value) -> bool:
    """Was it made in plain sight, once, so that another such optimiser is surely another one?"""
    return optimizer.kind == "optimizer" and optimizer.op.startswith("api:")


def network_of(optimizer: Value) -> Value | None:
    """The network whose parameters an optimiser was given, all of them."""
    given = optimizer.option("0", "params")
    return given.inputs[0] if given is not None and given.op == "parameters" and given.inputs else None


def is_plain_scheduler_step(step: Step) -> bool:
    """`scheduler.step()` of a scheduler made in plain sight, without a metric or an epoch."""
    made = step.receiver
    if step.act != "step" or made is None or made.kind != "scheduler" or not made.op.startswith("api:"):
        return False
    plain = not step.site.args and not step.site.keywords and not step.site.star
    return plain and not made.api.endswith("ReduceLROnPlateau")


def is_same(a: Value | None, b: Value | None) -> bool:
    return a is not None and b is not None and (a is b or same(a, b))


def excludes(a: Step, b: Step) -> bool:
    """Do the two stand in different arms of one `if`?"""
    arms = dict(a.site.spot.branch)
    return any(arms.get(where, arm) != arm for where, arm in b.site.spot.branch)


def implies(a: Step, b: Step) -> bool:
    """Whenever `a` happens in a round, does `b` happen too?"""
    return set(b.site.spot.branch) <= set(a.site.spot.branch)


def common_loop(a: Step, b: Step) -> ast.AST | None:
    """The innermost loop around both."""
    return next((loop for loop in reversed(a.loops) if loop in b.loops), None)


def runs_once(loop: ast.AST) -> bool:
    """A loop that is left in its first round."""
    body = getattr(loop, "body", None)
    return isinstance(body, list) and bool(body) and isinstance(body[-1], ast.Break | ast.Return)


def made_in(value: Value, loop: ast.AST, file: File) -> bool:
    """Was the value made inside the loop?"""
    if value.loop == id(loop):
        return True
    start, end = getattr(loop, "lineno", 0), getattr(loop, "end_lineno", 0)
    return value.unit in (file, None) and 0 < start <= value.line <= end


def depends_on_round(value: Value, loop: ast.AST, file: File) -> bool:
    """Is the value, or something it was computed from, what this round of the loop is about?"""
    source = getattr(loop, "iter", None)
    return any(one.node is source or made_in(one, loop, file) for one in ancestors(value, most=60))


def behaves_differently(network: Value, depth: int = 0) -> Value | None:
    """A dropout or BatchNorm layer that the network surely has, whose work depends on train() and eval()."""
    if network.kind == "module":
        if network.api in _STATEFUL_LAYERS:
            return None if _is_off(network) else network
        namespace, _, name = network.api.rpartition(".")
        if namespace == "torchvision.models" and name.lower().startswith(_STATEFUL_NETWORKS):
            return network
    if network.kind not in ("module", "instance") or depth > _DEEPEST_NETWORK:
        return None
    for part in (*network.attrs.values(), *(network.parts or ())):
        if part.op != "phi" and part is not network:
            layer = behaves_differently(part, depth + 1)
            if layer is not None:
                return layer
    return None


def _is_off(layer: Value) -> bool:
    """Dropout(0), and a BatchNorm that keeps no averages, do the same in both modes."""
    rate, averages = layer.option("0", "p"), layer.option("track_running_stats")
    if "Dropout" in layer.api:
        return rate is not None and not rate.number()
    return averages is not None and averages.const is not True
