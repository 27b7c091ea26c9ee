"""Faults in what the layers of a port to Keras are told."""

from __future__ import annotations

import math
from typing import Any

import keras
import numpy as np
from keras import layers

from compare.fault import Fault, Spot, amount, pick
from compare.keras_plan import NORMS, Make, Plan, fault_of
from compare.ports import SelfAttention

_RECURRENT = (layers.LSTM, layers.GRU)
_ACTIVATIONS = ["relu", "gelu", "silu", "elu", "tanh", "leaky_relu", "relu6", "softplus"]


def _setting(plan: Plan, name: str, what: str, cause: str, size: float | None = None, **settings: Any) -> Fault:
    plan.changes[name] = settings
    return fault_of(plan, name, "settings", what, cause, size)


def epsilon(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(*NORMS))
    value = float(math.exp(rng.uniform(math.log(1e-8), math.log(1e-1))))
    return _setting(plan, name, f"epsilon {value:.2g}", "epsilon", value, epsilon=value)


def momentum(plan: Plan, rng: np.random.Generator) -> Fault:
    return _setting(plan, pick(rng, plan.made(layers.BatchNormalization)), "momentum", "", momentum=0.5)


def activation(plan: Plan, rng: np.random.Generator) -> Fault:
    made = plan.ported.clean.made
    name = pick(rng, [name for name, one in made.items() if "activation" in one and one["kind"] not in _RECURRENT])
    value = pick(rng, [one for one in _ACTIVATIONS if one != made[name]["activation"]])
    return _setting(plan, name, f"activation {value}", "activation", activation=value)


def gelu_variant(plan: Plan, rng: np.random.Generator) -> Fault:
    """The other of the two formulas of one name."""
    made = plan.ported.clean.made
    name = pick(rng, [name for name, one in made.items() if "gelu" in getattr(one.get("activation"), "__name__", "")])
    tanh = made[name]["activation"].__name__ != "_gelu_tanh"
    return _setting(
        plan,
        name,
        f"gelu with approximate={tanh}",
        "activation",
        activation=lambda x: keras.ops.gelu(x, approximate=tanh),
    )


def slope(plan: Plan, rng: np.random.Generator) -> Fault:
    name, size = pick(rng, plan.made(layers.LeakyReLU)), amount(rng)
    return _setting(plan, name, f"slope times {1 + size:.5g}", "activation", size, negative_slope=0.1 * (1 + size))


def recurrent_activation(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(*_RECURRENT))
    if rng.random() < 0.7:
        return _setting(plan, name, "hard sigmoid", "recurrent activation", recurrent_activation="hard_sigmoid")
    return _setting(plan, name, "relu", "recurrent activation", activation="relu")


def reset_before(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(layers.GRU))
    w, r, b = plan.ported.weights[name]
    plan.weights[name] = [w, r, b.sum(0)]
    return _setting(plan, name, "reset_after False", "reset after", reset_after=False)


def backwards(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(layers.GRU))
    return _setting(plan, name, "reads backwards", "read backwards", go_backwards=True)


def padding(plan: Plan, rng: np.random.Generator) -> Fault:
    """As `same` pads with strides: all of it behind."""
    name = pick(rng, [name for name in plan.made(layers.ZeroPadding2D) if "pool" not in name])
    return _setting(plan, name, "one-sided", "padding on one side", padding=((0, 2), (0, 2)))


def pool_edges(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, [name for name in plan.made(layers.ZeroPadding2D) if "pool" in name])
    if rng.random() < 0.5:
        return _setting(plan, name, "one-sided", "pooling edges", padding=((0, 2), (0, 2)))
    plan.changes[name.removesuffix(".pad")] = {"padding": "same"}
    return _setting(plan, name, "same", "pooling edges", padding=0)


def dilation(plan: Plan, rng: np.random.Generator) -> Fault:
    made = plan.ported.clean.made
    name = pick(rng, [name for name in plan.made(layers.Conv2D) if made[name].get("kernel_size") == 3])
    return _setting(plan, name, "dilation 2", "", dilation_rate=2)


def interpolation(plan: Plan, rng: np.random.Generator) -> Fault:
    value = pick(rng, ["nearest", "bicubic"])
    return _setting(plan, pick(rng, plan.made(layers.UpSampling2D)), value, "resize mode", interpolation=value)


def no_bias(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, [n for n in plan.made(layers.Dense, layers.Conv2D) if len(plan.ported.weights.get(n, [])) == 2])
    plan.weights[name] = plan.ported.weights[name][:1]
    return _setting(plan, name, "no bias", "bias lost", use_bias=False)


def no_shift(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(layers.LayerNormalization))
    plan.weights[name] = plan.ported.weights[name][:1]
    return _setting(plan, name, "center False", "bias lost", center=False)


def mask(plan: Plan, rng: np.random.Generator) -> Fault:
    """By one place more or less, or none at all."""
    by = int(rng.choice([-1, 1, 100]))
    name = pick(rng, [*plan.ported.clean.masked, *plan.made(SelfAttention)])
    op = "masked_fill"
    if name in plan.ported.clean.masked:
        plan.masks[name] = by
    else:
        plan.changes[name] = {"moved": by}
        op = "scaled_dot_product_attention"
    return Fault("settings", f"{name}: mask moved by {by}", (Spot(name, False, op=op, nth=0),), name, "mask")


def attention_scale(plan: Plan, rng: np.random.Generator) -> Fault:
    name, size = pick(rng, plan.made(SelfAttention)), amount(rng)
    return _setting(plan, name, f"scores over {1 + size:.5g}", "scale", size, scale=1 + size)


def input_scaling(plan: Plan, rng: np.random.Generator) -> Fault:
    name, size = pick(rng, plan.made(layers.Normalization)), amount(rng)
    made = plan.ported.clean.made[name]
    which = pick(rng, ["mean", "variance"])
    settings = {which: [n * (1 + size) for n in made[which]]}
    return _setting(plan, name, f"{which} times {1 + size:.5g}", "input scaling", size, **settings)


def flatten_order(plan: Plan, rng: np.random.Generator) -> Fault:
    name = pick(rng, plan.made(layers.Flatten))
    return _setting(plan, name, "channels first", "flatten order", data_format="channels_first")


KINDS: dict[str, Make] = {
    one.__name__: one
    for one in (
        epsilon,
        momentum,
        activation,
        gelu_variant,
        slope,
        recurrent_activation,
        reset_before,
        backwards,
        padding,
        pool_edges,
        dilation,
        interpolation,
        no_bias,
        no_shift,
        mask,
        attention_scale,
        input_scaling,
        flatten_order,
    )
}
