"""One fault at random in a port to Keras: in its weights, its settings, its wiring, or the precision of one layer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from keras import layers
from numpy.typing import NDArray
from torch import nn

from compare import keras_settings, weight_faults
from compare.fault import INVISIBLE, Fault, Spot, Unfit, pick
from compare.keras_plan import NORMS, Make, Plan, Ported, answers, fault_of, is_layer
from compare.networks import is_identity
from compare.onnx_exact import change
from compare.ports import SelfAttention

Array = NDArray[Any]
_TRIES = 200
_JOIN = re.compile(r"^(?:(.*)\.)?(add|cat)(\d*)$")


def draw(ported: Ported, rng: np.random.Generator, dropped: Counter[str]) -> tuple[Any, Fault]:
    """A faulty port that runs and whose outputs are visibly other than they should be; `dropped` counts the rest.

    The change is measured in float32 on the port's own backend, whose rounding is well below what counts as visible."""
    family = pick(rng, FAMILIES)
    for _ in range(_TRIES):
        plan = Plan(ported)
        try:
            fault = pick(rng, FAMILIES[family].values())(plan, rng)
        except Unfit:
            continue
        try:
            model = plan.built()
            got = answers(model, ported.batch)
        except Exception:  # whatever Keras or its backend says of layers that do not fit together
            dropped["does not run"] += 1
            continue
        moved = change(ported.right, got) if [a.shape for a in got] == [a.shape for a in ported.right] else None
        if moved is None:
            dropped["does not run"] += 1
        elif moved <= INVISIBLE:
            dropped["invisible"] += 1
        else:
            return model, replace(fault, change=moved)
    return draw(ported, rng, dropped)


def _weight(change_of: weight_faults.Change, what: str, family: str) -> Make:
    def make(plan: Plan, rng: np.random.Generator) -> Fault:
        name = pick(rng, plan.ported.weights)
        arrays = list(plan.ported.weights[name])
        at = int(rng.integers(len(arrays)))
        same = [
            one
            for other, theirs in plan.ported.weights.items()
            for place, one in enumerate(theirs)
            if one.shape == arrays[at].shape and (other, place) != (name, at)
        ]
        changed, size, cause = change_of(arrays[at], rng, same)
        arrays[at] = np.ascontiguousarray(changed, np.float32)
        plan.weights[name] = arrays
        if cause == "weights lost" and _is_bias(plan.ported.module, name, at):
            cause = "bias lost"
        return fault_of(plan, name, family, f"weight {at}: {what}", cause, size, at)

    return make


def _is_bias(module: nn.Module, name: str, at: int) -> bool:
    return at > 0 and is_layer(module, name) and isinstance(module.get_submodule(name), nn.Linear | nn.Conv2d)


def _kernel(rearranged: Callable[[Array], Array], what: str, cause: str) -> Make:
    def make(plan: Plan, rng: np.random.Generator) -> Fault:
        kernels = {name: arrays for name, arrays in plan.ported.weights.items() if arrays[0].ndim == 4}
        name = pick(rng, [name for name, arrays in kernels.items() if arrays[0].shape[0] > 1])
        plan.weights[name] = [np.ascontiguousarray(rearranged(kernels[name][0])), *kernels[name][1:]]
        return fault_of(plan, name, "weights", what, cause)

    return make


def _norm_weights_swapped(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(layers.BatchNormalization))
    first = int(rng.choice([0, 2]))
    arrays = list(plan.ported.weights[name])
    arrays[first], arrays[first + 1] = arrays[first + 1], arrays[first]
    plan.weights[name] = arrays
    return fault_of(plan, name, "weights", f"weights {first} and {first + 1} swapped", "mean and variance")


def _gates_left(plan: Plan, rng: np.random.Generator) -> Fault:
    """PyTorch's order of a GRU's gates, or one of another framework's for an LSTM's."""
    name = pick(rng, [name for name in plan.ported.weights if re.match(r"(gru|lstm)\d", name)])
    order = [1, 0, 2] if name.startswith("gru") else [0, 2, 1, 3]
    plan.weights[name] = [
        np.ascontiguousarray(np.concatenate([np.split(one, len(order), -1)[gate] for gate in order], -1))
        for one in plan.ported.weights[name]
    ]
    return fault_of(plan, name, "weights", f"gates in the order {order}", "gate order")


def _rewired(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.ported.clean.joins)
    wrong = pick(rng, plan.ported.clean.joins[name])
    plan.wires[name] = wrong
    return Fault("wiring", f"{name} reads {wrong}", (_join(name),), name)


def _join(name: str) -> Spot:
    found = _JOIN.match(name)
    assert found is not None
    return Spot(found[1] or "", False, op=found[2], nth=int(found[3] or 0))


def _swapped(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, [name for name in plan.ported.clean.joins if "cat" in name])
    plan.swaps.append(name)
    return Fault("wiring", f"{name}: operands swapped", (_join(name),), name, "operands swapped")


def _skipped(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(*NORMS, layers.Activation, layers.LeakyReLU))
    plan.skips.append(name)
    cause = "" if name in plan.made(*NORMS) else "activation"
    if is_layer(plan.ported.module, name) and is_identity(plan.ported.module.get_submodule(name)):
        cause = "epsilon"
    return Fault("wiring", f"{name} left out", plan.spots(name), name, cause)


def _precision(policy: str) -> Make:
    def make(plan: Plan, rng: np.random.Generator) -> Fault:
        name = pick(rng, [n for n in plan.ported.clean.made if n not in plan.made(SelfAttention) and "pad" not in n])
        plan.changes[name] = {"dtype": policy}
        return Fault("precision", f"{name} in {policy}", plan.spots(name), name, "precision")

    return make


FAMILIES: dict[str, dict[str, Make]] = {
    "weights": {
        **{what: _weight(one, what, "weights") for what, one in weight_faults.CHANGES.items()},
        "kernel flipped": _kernel(lambda w: weight_faults.flipped(w, 0, 1), "kernel flipped", "kernel flip"),
        "kernel axes": _kernel(lambda w: w.swapaxes(0, 1), "height and width swapped", "kernel axes"),
        "swapped in a norm": _norm_weights_swapped,
        "gate order": _gates_left,
    },
    "settings": keras_settings.KINDS,
    "wiring": {"rewired": _rewired, "swapped": _swapped, "skipped": _skipped},
    "precision": {
        "float16": _precision("mixed_float16"),
        "bfloat16": _precision("mixed_bfloat16"),
        "int8": _weight(weight_faults.INT8, "int8", "precision"),
    },
}
