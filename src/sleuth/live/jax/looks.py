"""A close look at one step: its loss is computed once more, and what passes through it is measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sleuth.findings import Place
from sleuth.live.jax import losses
from sleuth.live.jax.listing import Listing, Op, as_numpy, compiled
from sleuth.live.jax.recipe import Recipe
from sleuth.live.signals import ActivationLook, InputLook, Look, LossLook, WeightLook

LINEAR = ("dot_general", "conv_general_dilated")
# They pass numbers on as they are, in another shape, order or type.
PASSING = frozenset(
    ("reshape", "broadcast_in_dim", "transpose", "convert_element_type", "squeeze", "expand_dims", "copy", "slice",
     "stop_gradient", "rev", "copy_p", "pad", "concatenate", "reduce_precision", "optimization_barrier")
)  # fmt: skip
_ENDS = {"sigmoid": (0.01, 0.99), "tanh": (-0.99, 0.99)}
# Functions of libraries that use an activation for something else.
_OTHER_USES = frozenset(
    ("silu", "swish", "gelu", "glu", "mish", "log_sigmoid", "softplus", "logaddexp", "elu", "selu", "celu",
     "leaky_relu", "hard_sigmoid", "hard_tanh", "clip", "softmax", "log_softmax", "logsumexp", "logsigmoid",
     "hard_silu", "lstm", "gru", "dot_product_attention", "squareplus", "relu6")
)  # fmt: skip
_MOST_VALUES = 1 << 20
_NORMALISING = frozenset(("BatchNorm", "LayerNorm", "GroupNorm", "RMSNorm", "batch_norm", "layer_norm", "standardize"))


def take(recipe: Recipe, inputs: Sequence[Any], step: int, loss: float, gradients: Any, updates: Any) -> Look:
    """`gradients` and `updates` are their norms, leaf by leaf; the latter may not be known."""
    plan = _plan(recipe)
    values = dict(zip(plan.wanted, (as_numpy(v) for v in plan.run(list(inputs))), strict=True))
    look = Look(step, loss)
    look.weights = list(_weights(plan, inputs, gradients, updates))
    look.activations = [one for op, kind in plan.activations if (one := _activation(plan, op, kind, values))]
    look.inputs = list(_inputs(plan, inputs))
    look.losses = plan.loss_looks(values, loss)
    plan.about_layers(look)
    return look


class Plan:
    """What of a recipe is to be looked at, found once."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.listing: Listing = recipe.listing
        self.root = self.listing.results[0]
        self.weights = {self.listing.leaves[i]: name for i, name in zip(recipe.weights, recipe.names, strict=True)}
        self.behind = {op.number for op in self.listing.behind(self.root)}
        self.activations = list(self._activations())
        self.losses = losses.find(self.listing, self.root, set(self.weights))
        self.wanted = sorted(
            {i for op, _ in self.activations for i in (op.outputs[0], op.inputs[0])}
            | {i for found in self.losses for i in (found.scores, found.target, found.output)}
        )
        self.run = compiled(self.listing, self.wanted)

    def _activations(self) -> Iterator[tuple[Op, str]]:
        for op in self.listing.ops:
            kind = _kind(op, self.listing)
            shape = op.equation.outvars[0].aval.shape
            if kind is not None and op.number in self.behind and len(shape) >= 2 and math.prod(shape) <= _MOST_VALUES:
                yield op, kind

    def about_layers(self, look: Look) -> None:
        """Whether there is nothing between linear layers is not to be seen from here."""
        look.nonlinearities = 1

    def loss_looks(self, values: dict[int, Any], total: float) -> list[LossLook]:
        """The loss functions' calls in numbers; `total` is the number that was differentiated."""
        return [said for found in self.losses if (said := _loss(self, found, values, total)) is not None]

    def layer_before(self, value: int) -> tuple[Op | None, str]:
        """The linear map with weights whose output this is, give or take a bias and a normalisation, and its name."""
        for _ in range(24):
            op = self.listing.makers.get(value)
            if op is None:
                break
            if op.name in LINEAR:
                return op, self.weight_of(op)
            value = max(op.inputs, key=lambda i: self._size(i), default=-1)
        return None, ""

    def _size(self, value: int) -> tuple[bool, int]:
        op = self.listing.makers.get(value)
        depends = op is not None and any(o.name in LINEAR for o in self.listing.behind(value))
        return depends, -value

    def weight_of(self, op: Op) -> str:
        for i in op.inputs:
            name = self.weight_behind(i)
            if name is not None:
                return name.rpartition(".")[0] if name.rpartition(".")[2] in _LAST_PARTS else name
        return op.name

    def weight_behind(self, value: int) -> str | None:
        while value not in self.weights:
            op = self.listing.makers.get(value)
            if op is None or op.name not in PASSING or not op.inputs:
                return None
            value = op.inputs[0]
        return self.weights[value]


_LAST_PARTS = ("kernel", "weight", "weights", "w", "W", "bias", "b", "scale", "embedding")


def _plan(recipe: Recipe) -> Plan:
    recipe.plan = recipe.plan or Plan(recipe)
    found: Plan = recipe.plan
    return found


def _kind(op: Op, listing: Listing) -> str | None:
    if op.within & _OTHER_USES or losses.NAMES.keys() & op.within:
        return None
    if op.name == "tanh":
        return "tanh"
    if op.name == "logistic":
        return "sigmoid"
    if op.name == "max" and any(_is_zero(listing, i) for i in op.inputs):
        return "relu"
    return None


def _is_zero(listing: Listing, value: int) -> bool:
    op = listing.makers.get(value)
    while op is not None and op.name in PASSING and op.inputs:
        value = op.inputs[0]
        op = listing.makers.get(value)
    constant = listing.constants.get(value)
    return constant is not None and np.ndim(constant) == 0 and float(constant) == 0.0


def _activation(plan: Plan, op: Op, kind: str, values: dict[int, Any]) -> ActivationLook | None:
    result, given = values[op.outputs[0]], values[op.inputs[0]]
    layer, name = plan.layer_before(op.inputs[0])
    axis = -1
    if layer is not None and layer.name == "conv_general_dilated":
        axis = layer.params["dimension_numbers"].out_spec[1]
    by_unit = np.moveaxis(result, axis, 0).reshape(result.shape[axis], -1)
    saturated = 0.0
    if kind in _ENDS:
        low, high = _ENDS[kind]
        saturated = float(np.mean((result < low) | (result > high)))
    after = {
        o.number for o in plan.listing.ops if o.name in LINEAR and o.number in plan.behind and o.number > op.number
    }
    hidden = any(op.number in {b.number for b in plan.listing.behind(plan.listing.ops[n].inputs[0])} for n in after)
    return ActivationLook(
        kind=kind,  # type: ignore[arg-type]
        place=op.place,
        layer=name,
        layer_made=layer.place if layer is not None else None,
        dead=float(np.mean((by_unit == 0).all(axis=1))),
        saturated=saturated,
        units=by_unit.shape[0],
        samples=by_unit.shape[1],
        input_size=float(np.mean(np.abs(given, dtype=np.float64))),
        hidden=hidden,
    )


def _weights(plan: Plan, inputs: Sequence[Any], gradients: Any, updates: Any) -> Iterator[WeightLook]:
    readers = plan.listing.readers()
    order = []
    known = [float(u) for u in updates] if updates is not None else [None] * len(plan.recipe.weights)
    for i, name, gradient, update in zip(plan.recipe.weights, plan.recipe.names, gradients, known, strict=True):
        used = _first_use(plan.listing, readers, plan.listing.leaves[i])
        order.append((used.number if used is not None else -1, i, name, float(gradient), update, used))
    for _, i, name, gradient, update, used in sorted(order, key=lambda one: one[0]):
        value = as_numpy(inputs[i])
        units = np.moveaxis(value, _units_axis(plan, i, used), 0) if value.ndim > 1 else value
        rows = units.reshape(units.shape[0], -1) if units.ndim > 1 and units.shape[0] > 1 else None
        yield WeightLook(
            name=name,
            # As the rules know it: units first, then what each of them reads.
            shape=units.shape,
            made=used.place if used is not None else None,
            initialised=None,
            norm=float(np.linalg.norm(value.astype(np.float64))),
            gradient_norm=gradient,
            update_norm=update,
            rows_equal=None if rows is None else bool((rows == rows[:1]).all()),
            half=str(inputs[i].dtype) in ("float16", "bfloat16"),
            is_embedding=used is not None and used.name == "gather",
        )


def _units_axis(plan: Plan, i: int, used: Op | None) -> int:
    """Along which dimension of a weight its units lie: the one that is not summed over."""
    leaf = plan.listing.leaves[i]
    if used is None or used.name not in LINEAR or leaf not in used.inputs:
        return -1
    if used.name == "conv_general_dilated":
        return int(used.params["dimension_numbers"].rhs_spec[0])
    summed = used.params["dimension_numbers"][0][used.inputs.index(leaf)]
    return next((axis for axis in (-1, 0) if axis % _dimensions(used, leaf) not in summed), -1)


def _dimensions(op: Op, value: int) -> int:
    return len(op.equation.invars[op.inputs.index(value)].aval.shape)


def _first_use(listing: Listing, readers: dict[int, list[Op]], value: int) -> Op | None:
    for op in readers.get(value, ()):
        if op.name not in PASSING:
            return op
        found = _first_use(listing, readers, op.outputs[0])
        if found is not None:
            return found
    return None


def _inputs(plan: Plan, inputs: Sequence[Any]) -> Iterator[InputLook]:
    """The data that linear layers read, the first that is read first."""
    readers = plan.listing.readers()
    data = [i for i in plan.recipe.data if getattr(inputs[i], "ndim", 0) >= 2]
    targets = {i for found in plan.losses for i in plan.listing.leaves_behind(found.target)}
    for i in data:
        leaf = plan.listing.leaves[i]
        values = as_numpy(inputs[i])
        if leaf in targets or values.dtype.kind != "f" or not values.size:
            continue
        first = _first_use(plan.listing, readers, leaf)
        if first is not None:
            yield _input_look(values, first, len(data) - 1 - len(targets), plan)
            return


def _input_look(values: Any, first: Op, others: int, plan: Plan) -> InputLook:
    some = values.reshape(-1)[:_MOST_VALUES].astype(np.float64)
    finite = some[np.isfinite(some)]
    same = (values == values[:1]).reshape(values.shape[0], -1).all(axis=0) if values.shape[0] > 3 else np.zeros(0, bool)
    columns = tuple(int(i) for i in np.flatnonzero(same)[:64]) if values.ndim == 2 else ()
    is_linear = first.name in LINEAR
    name = "linear" if first.name == "dot_general" else "conv" if is_linear else first.name
    return InputLook(
        place=first.place,
        shape=values.shape,
        low=float(finite.min()) if finite.size else math.nan,
        high=float(finite.max()) if finite.size else math.nan,
        mean=float(finite.mean()) if finite.size else math.nan,
        spread=float(finite.std(ddof=1)) if finite.size > 1 else math.nan,
        first_layer=name,
        identical_rows=bool(same.size and same.all()),
        constant_columns=columns,
        normalised_first=bool(first.within & _NORMALISING) or not is_linear,
        column_values=tuple(float(values[0, i]) for i in columns),
        others=max(0, others),
    )


def _loss(plan: Plan, found: losses.Found, values: dict[int, Any], total: float) -> LossLook | None:
    made, made_at = made_by(plan, found.scores)
    return losses.look(found, values, total, made, made_at, plan.listing, set(plan.weights))


_CALLED = ("softmax", "log_softmax", "sigmoid", "tanh", "relu", "relu6")


def made_by(plan: Plan, value: int) -> tuple[str, Place | None]:
    """The last thing that happened to a value, views left out."""
    op = plan.listing.makers.get(value)
    while op is not None and op.name in PASSING and op.inputs:
        op = plan.listing.makers.get(op.inputs[0])
    if op is None:
        return "", None
    for name in _CALLED:
        if name in op.within:
            return name, op.place
    kind = _kind(op, plan.listing)
    if kind is not None:
        return kind, op.place
    layer, _ = plan.layer_before(value)
    is_bias = op.name == "add" and any(plan.weight_behind(i) is not None for i in op.inputs)
    if layer is op or (is_bias and layer is not None):
        return "linear", op.place
    return op.name, op.place
