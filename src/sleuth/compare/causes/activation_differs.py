"""An activation function that is a near relative, is left out, or was put where the reference has none."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import Tensor
from torch.nn import functional

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes._arguments import (
    CONVOLUTIONS,
    NORMS,
    PRODUCTS,
    TRANSPOSED_CONVOLUTIONS,
    argument,
    changed,
    data_name,
    followed_by,
    is_floating,
)
from sleuth.compare.reference import Call
from sleuth.compare.scores import LIMIT
from sleuth.compare.values import in_float64

Function = Callable[[Tensor], Tensor]
_FUNCTIONS: dict[str, Function] = {
    "relu": torch.relu,
    "gelu": functional.gelu,
    "gelu by tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "quick gelu, x * sigmoid(1.702 x)": lambda x: x * torch.sigmoid(1.702 * x),
    "silu": functional.silu,
    "leaky relu with slope 0.01": lambda x: functional.leaky_relu(x, 0.01),
    "leaky relu with slope 0.1": lambda x: functional.leaky_relu(x, 0.1),
    "leaky relu with slope 0.2": lambda x: functional.leaky_relu(x, 0.2),
    "leaky relu with slope 0.3": lambda x: functional.leaky_relu(x, 0.3),
    "leaky relu with slope 0.25": lambda x: functional.leaky_relu(x, 0.25),
    "relu6": functional.relu6,
    "squared relu": lambda x: torch.relu(x).square(),
    "elu": functional.elu,
    "selu": functional.selu,
    "hard swish": functional.hardswish,
    "mish": functional.mish,
    "sigmoid": torch.sigmoid,
    "hard sigmoid with slope 1/6": functional.hardsigmoid,
    "hard sigmoid with slope 0.2": lambda x: (0.2 * x + 0.5).clamp(0, 1),
    "tanh": torch.tanh,
    "hard tanh": functional.hardtanh,
    "softplus": functional.softplus,
    "softsign": functional.softsign,
    "log sigmoid": functional.logsigmoid,
    "softmax": lambda x: torch.softmax(x, -1),
    "log softmax": lambda x: torch.log_softmax(x, -1),
}
# What a layer is often followed by.
_COMMON = (
    "relu",
    "relu6",
    "leaky relu with slope 0.01",
    "leaky relu with slope 0.2",
    "gelu",
    "gelu by tanh",
    "silu",
    "elu",
)
_BEFORE = (*_COMMON, "sigmoid", "tanh")
_AFTER = (*_BEFORE, "softmax", "log softmax")
_OWN = {
    "gelu": "gelu",
    "relu": "relu",
    "leaky_relu": "leaky relu",
    "hardtanh": "hard tanh",
    "hardswish": "hard swish",
    "hardsigmoid": "hard sigmoid",
    "log_sigmoid": "log sigmoid",
    "log_softmax": "log softmax",
    **{
        name: name
        for name in ("elu", "selu", "celu", "silu", "mish", "sigmoid", "tanh", "softplus", "prelu", "rrelu", "relu6")
    },
    **{name: name for name in ("threshold", "softshrink", "hardshrink", "softsign", "clamp", "clamp_min", "softmax")},
}
# The parameter, and what it multiplies.
_BELOW_ZERO: dict[str, tuple[str, Function]] = {
    "elu": ("alpha", torch.expm1),
    "leaky_relu": ("negative_slope", torch.clone),
}
_SHAPES = frozenset({"flatten", "view", "reshape", "permute", "transpose", "mean", "adaptive_avg_pool2d", "dropout"})
_POOLS = frozenset({"max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"})
_LAYERS = CONVOLUTIONS | TRANSPOSED_CONVOLUTIONS | NORMS | PRODUCTS | _SHAPES | _POOLS | {"linear", "add"}
OPS = frozenset(_OWN) | _LAYERS | {"mul"}
_NONE_THERE = "leave it out: the reference has no activation there"
_GATES = ("gelu", "gelu by tanh", "quick gelu, x * sigmoid(1.702 x)", "silu", "mish", "hard swish")


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    if not is_floating(call.again()):  # arithmetic on positions, say
        return
    if call.op in _BELOW_ZERO:
        yield from _other_parameter(call, target)
    if call.op in _OWN:
        yield from _replaced(call.arguments["self"], _own_name(call), call.again(), "self", call)
    elif call.op == "mul":
        yield from _written_out(call)
    else:
        yield from _additional(call)


def _other_parameter(call: Call, target: Target) -> Iterator[Proposal]:
    """What is below zero is multiplied by one number, which the target's values tell."""
    parameter, shape = _BELOW_ZERO[call.op]
    data, own = call.arguments["self"], argument(call, parameter)
    if tuple(data.shape) != target.value.shape:
        return
    theirs = torch.from_numpy(in_float64(target.value))
    below = data < -1e-3 * data.abs().max()
    found = float((theirs[below] / shape(data[below])).median()) if int(below.sum()) >= 8 else math.nan
    if not math.isfinite(found) or not found:
        return
    word, name = parameter.replace("_", " "), _OWN[call.op]
    fix = f"give it {word} {own:g}, as the reference has"
    for digits in range(1, 9):  # as few as someone may have written
        told = float(f"{found:.{digits}g}")
        says = f"its {name} has {word} {told:.8g}, not {own:g}"
        proposal = Proposal(says, fix, changed(parameter, lambda _, told=told: told), rank=1)  # type: ignore[misc]
        if target.judge is None or target.judge(proposal.apply) <= LIMIT:
            yield proposal
            return


def _replaced(data: Tensor, own: str, value: Tensor, name: str, call: Call) -> Iterator[Proposal]:
    """By every other that differs on these numbers."""
    yield from _instead(data, own, value, name, soft=call.op.endswith("softmax"))
    if call.op == "prelu" and call.arguments["weight"].numel() > 1:
        says = "its PReLU has one slope for all channels"
        yield Proposal(says, "give it a slope a channel", changed("weight", lambda w: w[:1].expand_as(w)))


def _instead(
    data: Tensor, own: str, value: Tensor, name: str, factor: float = 1.0, soft: bool = False
) -> Iterator[Proposal]:
    """Of functions that are the same on these numbers only the first."""
    fix = f"use {own}, as the reference does"
    seen = {_digest(value), _digest(data)}
    if _digest(data) != _digest(value):
        yield Proposal(f"its {own} is left out", fix, _of_argument(name, torch.clone, factor))
    for other, function in _FUNCTIONS.items():
        digest = _digest(function(data)) if other.endswith("softmax") == soft else _digest(value)
        if digest not in seen:
            seen.add(digest)
            yield Proposal(f"it computes {other}, not {own}", fix, _of_argument(name, function, factor))


def _digest(value: Tensor) -> tuple[str, str]:
    return f"{float(value.sum()):.10g}", f"{float(value.square().sum()):.10g}"


def _of_argument(name: str, function: Function, factor: float = 1.0) -> Callable[[Call], Tensor]:
    return lambda call: function(factor * call.arguments[name] if factor != 1 else call.arguments[name])


def _own_name(call: Call) -> str:
    name = _OWN[call.op]
    if call.op == "gelu" and argument(call, "approximate") == "tanh":
        return "gelu by tanh"
    if call.op == "leaky_relu":
        return f"leaky relu with slope {argument(call, 'negative_slope'):g}"
    if call.op == "hardtanh" and (argument(call, "min_val"), argument(call, "max_val")) == (0, 6):
        return "relu6"
    return name


def _written_out(call: Call) -> Iterator[Proposal]:
    """The last product of a gelu or silu that is spelt out: x, or half of it, times what lets it through."""
    if not all(is_floating(argument(call, name)) for name in ("self", "other")):
        return
    value = call.again()
    for name in ("self", "other"):
        for factor in (1.0, 2.0):
            data = factor * call.arguments[name]
            if data.shape != value.shape or data.numel() < 8:
                continue
            own = next(
                (one for one in _GATES if torch.allclose(_FUNCTIONS[one](data), value, rtol=1e-9, atol=1e-12)), None
            )
            if own is not None:
                yield from _instead(data, own, value, name, factor)
                return


def _additional(call: Call) -> Iterator[Proposal]:
    """On what comes into a layer, or on what comes out of it."""
    for name in (data_name(call), *(("other",) if call.op == "add" else ())):
        data = argument(call, name)
        if is_floating(data):
            for other in _different(data, _BEFORE):
                yield Proposal(
                    f"what comes into it has gone through {other}", _NONE_THERE, changed(name, _FUNCTIONS[other])
                )
    if call.op not in _SHAPES:
        yield from _followed(call.again(), _AFTER)


def behind(value: Tensor) -> Iterable[Proposal]:
    return _followed(value, _BEFORE)


def _followed(value: Tensor, names: Iterable[str]) -> Iterator[Proposal]:
    for other in _different(value, names):
        yield Proposal(f"it is followed by {other}", _NONE_THERE, followed_by(_FUNCTIONS[other]))


def _different(data: Tensor, names: Iterable[str]) -> Iterator[str]:
    """Those that change these numbers, and each in another way."""
    seen = {_digest(data)}
    for name in names:
        digest = _digest(_FUNCTIONS[name](data))
        if digest not in seen:
            seen.add(digest)
            yield name
