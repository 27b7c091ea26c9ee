"""From a loss or gradient that is not finite back to the operation that gave birth to it, and its finding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sleuth import handbook
from sleuth.findings import Evidence, Finding, Fix, Link, Place
from sleuth.live.history import History
from sleuth.live.jax.listing import Listing, Op, as_numpy, compiled
from sleuth.live.jax.recipe import Recipe

_ANCESTORS = 3
# Their only job is to put a value there: an infinity they write is one the program asked for.
_PLACES_A_VALUE = frozenset(("select_n", "broadcast_in_dim", "pad", "scatter", "dynamic_update_slice", "iota"))
_PASSING = frozenset(("reshape", "broadcast_in_dim", "transpose", "convert_element_type", "squeeze", "copy"))
_LARGE = 1e30


@dataclass(frozen=True, slots=True)
class Held:
    """What an array holds: the range of its finite values, and how many are not."""

    low: float
    high: float
    count: int
    nan: int = 0
    plus: int = 0
    minus: int = 0

    @property
    def infinite(self) -> int:
        return self.plus + self.minus

    @property
    def bad(self) -> int:
        return self.nan + self.infinite

    def span(self) -> str:
        if math.isnan(self.low):
            return "no finite value"
        return f"{self.low:.4g}" if self.low == self.high else f"{self.low:.4g} to {self.high:.4g}"

    def became(self) -> str:
        kinds = [f"{word} in {n:,} of {self.count:,} values" if self.count > 1 else word
                 for word, n in (("nan", self.nan), ("inf", self.plus), ("-inf", self.minus)) if n]  # fmt: skip
        return " and ".join(kinds) or "a finite value"


def held(value: Any) -> Held:
    array = as_numpy(value)
    if array.dtype.kind != "f" or not array.size:
        return Held(math.nan, math.nan, array.size)
    finite = array[np.isfinite(array)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (math.nan, math.nan)
    return Held(low, high, array.size, int(np.isnan(array).sum()), int(np.isposinf(array).sum()),
                int(np.isneginf(array).sum()))  # fmt: skip


@dataclass(eq=False, slots=True)
class Origin:
    """The operation, or the input, from which the trouble came. `became_nan` turned an infinity into NaN."""

    listing: Listing
    values: list[Any]
    op: Op | None
    leaf: int | None
    became_nan: Op | None = None

    def of(self, value: int) -> Held:
        return held(self.values[value])


def finding(
    recipe: Recipe | None,
    inputs: Sequence[Any] | None,
    step: int,
    loss: float,
    norm: float,
    history: History,
    place: Place | None,
) -> Finding:
    """`place` is where the loss is differentiated: the least that can be said."""
    origin = _origin(recipe, inputs, loss) if recipe is not None and inputs is not None else None
    symptom = (
        Link(f"the loss became {loss:g}", place)
        if not math.isfinite(loss)
        else Link("its gradients are not finite", place)
    )
    if origin is None:
        return handbook.finding(
            "unexplained-non-finite",
            place=place,
            step=step,
            evidence=tuple(_history(history)),
            chain=(symptom, Link("what the loss of that step was computed from is not known any more")),
        )
    if origin.op is None:
        assert recipe is not None
        assert inputs is not None
        return _of_leaf(origin, recipe, step, history, symptom, place)
    return _of_operation(origin, step, history, symptom)


def _origin(recipe: Recipe, inputs: Sequence[Any], loss: float) -> Origin | None:
    in_loss = not math.isfinite(loss)
    listing = recipe.listing if in_loss else recipe.gradient_listing()
    values = list(compiled(listing, None)(list(inputs)))
    symptoms = [i for i in listing.results[: 1 if in_loss else None] if held(values[i]).bad]
    if not symptoms:
        return None
    found = [_first_source(listing, values, i) for i in symptoms]
    return min(found, key=lambda o: (o.op is not None, o.op.number if o.op is not None else 0))


def _first_source(listing: Listing, values: list[Any], symptom: int) -> Origin:
    is_nan = held(values[symptom]).nan > 0
    first = _sources(listing, values, symptom, "nan" if is_nan else "infinite")[0]
    if first.op is None or not is_nan:
        return first
    # The NaN may be the child of an infinity that was born by accident: then that is the origin.
    for i in first.op.inputs:
        if held(values[i]).infinite:
            for one in _sources(listing, values, i, "infinite"):
                if one.op is None or one.op.name not in _PLACES_A_VALUE:
                    return Origin(listing, values, one.op, one.leaf, first.op)
    return first


def _sources(listing: Listing, values: list[Any], value: int, what: str) -> list[Origin]:
    """Every birth and bad input from which a value can have got its NaN (or Inf): inputs first, then the earliest."""
    found, todo, seen = [], [value], {value}
    while todo:
        current = todo.pop()
        op = listing.makers.get(current)
        if op is None:
            found.append(Origin(listing, values, None, current))
            continue
        bad = [i for i in op.inputs if getattr(held(values[i]), what)]
        if not bad:
            found.append(Origin(listing, values, op, None))
        for i in bad:
            if i not in seen:
                seen.add(i)
                todo.append(i)
    return sorted(found, key=lambda o: (o.op is not None, o.op.number if o.op is not None else 0))


def _of_leaf(
    origin: Origin, recipe: Recipe, step: int, history: History, symptom: Link, place: Place | None
) -> Finding:
    """A weight or sample that was bad before the step began."""
    assert origin.leaf is not None
    reader = next((op for op in origin.listing.ops if origin.leaf in op.inputs), None)
    at = reader.place if reader is not None else place
    numbers = origin.of(origin.leaf)
    word = "NaN" if numbers.nan else "inf" if numbers.plus else "-inf"
    by_leaf = {origin.listing.leaves[i]: name for i, name in zip(recipe.weights, recipe.names, strict=True)}
    weight = by_leaf.get(origin.leaf)
    evidence = [Evidence("non-finite values", numbers.bad), Evidence("values", numbers.count)]
    if weight is not None:
        before = step > 0 and bool(history.gradient_norms)
        diagnosis, title = "non-finite-weight", f"the weight {weight} holds {word}"
        if before:
            diagnosis, title = "update-not-finite", f"an update made {weight} {word}"
        fixes: tuple[Fix, ...] = (Fix("lower the learning rate"), Fix("clip the gradients"))
        if not before:
            fixes = (Fix(f"look at how {weight} is initialised or which checkpoint it is loaded from"),)
        evidence.insert(0, Evidence("weight", weight))
    else:
        array = as_numpy(origin.values[origin.leaf])
        bad = ~np.isfinite(array.reshape(array.shape[0], -1)).all(axis=1) if array.ndim else np.ones(1, bool)
        row = int(np.argmax(bad))
        diagnosis, title = "non-finite-sample", f"row {row} of the batch holds {word}"
        evidence.insert(0, Evidence("row in batch", row))
        fixes = (
            Fix("drop or mend such rows before training: keep only rows where jnp.isfinite(x).all()"),
            Fix("find what made it: a missing value read as NaN, a division or log in the preprocessing"),
        )
    return handbook.finding(
        diagnosis,
        title=title,
        place=at,
        step=step,
        evidence=(*evidence, *_history(history)),
        chain=(Link(f"{title} when it was used here", at), symptom, *_growth(history)),
        fixes=fixes,
    )


def _of_operation(origin: Origin, step: int, history: History, symptom: Link) -> Finding:
    op = origin.op
    assert op is not None
    told = _verdict(origin, op, history)
    read = _watched(origin, op)
    culprit = read.inputs[min(told.culprit, len(read.inputs) - 1)] if read.inputs else None
    ranges = []
    if culprit is not None:
        numbers = origin.of(culprit)
        shape = tuple(np.shape(origin.values[culprit]))
        ranges = [Evidence("input minimum", numbers.low), Evidence("input maximum", numbers.high),
                  Evidence("input type", str(origin.values[culprit].dtype) if hasattr(origin.values[culprit], "dtype")
                           else "number"), Evidence("input shape", shape)]  # fmt: skip
    result = origin.of(op.outputs[0])
    derivative = "the derivative of " if op.in_backward else ""
    links = [*_before(origin, culprit), Link(f"{derivative}{_said(read)} gave {result.became()}", op.place)]
    if origin.became_nan is not None and origin.became_nan is not op:
        links.append(Link(f"{_said(origin.became_nan)} turned the infinity into NaN", origin.became_nan.place))
    return handbook.finding(
        told.diagnosis,
        place=op.place,
        step=step,
        evidence=(
            Evidence("operation", _said(read)), *ranges, Evidence("result", result.became()), *_history(history),
        ),
        chain=(*links, symptom, *_growth(history)),
        fixes=told.fixes,
    )  # fmt: skip


def _before(origin: Origin, value: int | None) -> list[Link]:
    """The makers of the operand that was dangerous, the oldest first."""
    links: list[Link] = []
    while value is not None and len(links) < _ANCESTORS:
        op = origin.listing.makers.get(value)
        if op is None:
            break
        if op.name not in _PASSING:
            links.append(Link(f"{_said(op)} gave {origin.of(value).span()}", op.place))
        value = max(op.inputs, key=lambda i: (i in origin.listing.makers, -i), default=None)
    return links[::-1]


_SAID = {"dot_general": "a matrix product", "conv_general_dilated": "a convolution", "reduce_sum": "sum",
         "reduce_max": "max", "integer_pow": "a power", "mul": "a product", "logistic": "sigmoid", "div": "a division",
         "add_any": "a sum", "add": "a sum", "sub": "a difference"}  # fmt: skip


def _said(op: Op) -> str:
    return _SAID.get(op.name, op.name)


@dataclass(frozen=True, slots=True)
class _Told:
    diagnosis: str
    fixes: tuple[Fix, ...] = ()
    culprit: int = 0


_LOGS = _Told(
    "log-of-zero",
    (
        Fix(
            "compute it from the logits in one call: optax.softmax_cross_entropy, optax.sigmoid_binary_cross_entropy, "
            "jax.nn.log_softmax or jax.nn.log_sigmoid"
        ),
        Fix("or keep the argument away from 0: jnp.log(jnp.maximum(x, 1e-8))"),
    ),
)
_NEGATIVE_LOG = _Told(
    "log-of-negative",
    (Fix("make the argument positive by construction: jax.nn.softplus, jnp.exp, a square, or jnp.maximum(x, 1e-8)"),),
)
_DIVISION = _Told(
    "division-by-zero",
    (
        Fix("keep the divisor away from 0: x / (d + eps) for d >= 0, or x / jnp.maximum(d, eps)"),
        Fix("where a 0 is meant, choose before dividing: x / jnp.where(d == 0, 1, d)"),
    ),
    culprit=1,
)
_ROOT_OF_NEGATIVE = _Told("sqrt-of-negative", (Fix("clamp before the root: jnp.sqrt(jnp.maximum(x, eps))"),))
_EXP = _Told(
    "exp-overflow",
    (
        Fix("use the fused form, which subtracts the maximum: jax.nn.softmax, jax.nn.log_softmax, jax.nn.softplus"),
        Fix("or bound the argument first: jnp.exp(jnp.minimum(x, 80))"),
    ),
)
_ROOT_AT_ZERO = (
    Fix("put an epsilon inside the root: jnp.sqrt(x + 1e-12) (outside it does not help the derivative)"),
    Fix("or drop the root and train on the square"),
)
_WHERE = _Told(
    "where-hides-bad-gradient",
    (
        Fix("make the argument safe as well: f(jnp.where(ok, x, 1.0)) inside the outer jnp.where"),
        Fix("or clamp before the operation instead of choosing after it"),
    ),
)
_EXPLOSION = _Told(
    "gradient-explosion",
    (
        Fix("lower the learning rate (try a tenth), or warm it up"),
        Fix("clip the gradients: optax.chain(optax.clip_by_global_norm(1.0), ...)"),
        Fix("normalise inputs and targets to about mean 0 and standard deviation 1"),
    ),
)
_ARCS = ("acos", "asin", "acosh", "atanh")
_AT_ZERO = {"sqrt": "sqrt-gradient-at-zero", "rsqrt": "rsqrt-of-zero", "pow": "pow-gradient-at-zero",
            "integer_pow": "pow-gradient-at-zero", "log": "log-of-zero", "cbrt": "pow-gradient-at-zero"}  # fmt: skip


def _verdict(origin: Origin, op: Op, history: History) -> _Told:
    if op.in_backward:
        told = _of_derivative(origin, op)
        if told is not None:
            return told
    result = origin.of(op.outputs[0])
    given = [origin.of(i) for i in op.inputs]
    first = given[0] if given else Held(math.nan, math.nan, 0)
    exploding = history.exploding and any(abs(g.high) > 1e4 or abs(g.low) > 1e4 for g in given)
    if op.name == "log":
        return _NEGATIVE_LOG if result.nan else _LOGS
    if op.name == "log1p":
        return _Told("log1p-out-of-range", (Fix("keep the argument above -1: jnp.log1p(jnp.maximum(x, -1 + 1e-6))"),))
    if (
        op.name in ("div", "rem")
        and len(given) > 1
        and (given[1].low <= 0 <= given[1].high or abs(given[1].high) < 1e-30)
    ):
        return _DIVISION
    if op.name in ("sqrt", "rsqrt") and result.nan:
        return _ROOT_OF_NEGATIVE
    if op.name == "rsqrt":
        return _Told("rsqrt-of-zero", (Fix("add the epsilon inside: jax.lax.rsqrt(x + eps)"),))
    if op.name in ("exp", "exp2", "expm1", "sinh", "cosh") and not exploding:
        return _EXP
    if op.name in ("pow", "integer_pow") and (result.nan or first.low <= 0 <= first.high):
        return _Told("pow-out-of-range", (Fix("keep the base away from 0 or above it: jnp.maximum(x, eps) ** p"),))
    if op.name in _ARCS:
        return _Told("arc-function-out-of-range", (Fix("clip the argument: jnp.clip(x, -1 + 1e-6, 1 - 1e-6)"),))
    if result.nan and any(g.infinite for g in given):
        return _Told("zero-times-infinity", (Fix("choose with jnp.where instead of multiplying by an infinity"),))
    if history.exploding or any(max(abs(g.high), abs(g.low)) > _LARGE for g in given if not math.isnan(g.high)):
        return _EXPLOSION
    if result.infinite:
        return _Told("value-overflow", (Fix("scale the operands down before this operation, or compute in log space"),))
    return _Told("unexplained-non-finite")


def _of_derivative(origin: Origin, op: Op) -> _Told | None:
    """The forward operation on the same line whose derivative is infinite there."""
    forward = _watched(origin, op)
    if forward is op:
        return None
    if _is_hidden(origin, forward):
        return _WHERE
    if forward.name in _ARCS:
        return _Told("arc-gradient-at-edge", (Fix("clip strictly inside the range: jnp.clip(x, -1 + 1e-6, 1 - 1e-6)"),))
    if forward.name == "sqrt" and _is_norm(origin, forward):
        return _Told("norm-gradient-at-zero", _ROOT_AT_ZERO)
    if forward.name == "div":
        return _DIVISION
    if forward.name in _AT_ZERO:
        return _Told(_AT_ZERO[forward.name], _ROOT_AT_ZERO if "sqrt" in forward.name else ())
    return None


def _watched(origin: Origin, op: Op) -> Op:
    """For a part of the derivative, the forward operation on the same line that is steep where it was used."""
    if not op.in_backward:
        return op
    steep = (*_AT_ZERO, *_ARCS, "div")
    same = [o for o in origin.listing.ops if not o.in_backward and o.line == op.line and o.line is not None]
    edge = [o for o in same if o.name in steep and _at_edge(origin, o)]
    return (edge or [o for o in same if o.name in steep] or [op])[0]


def _at_edge(origin: Origin, op: Op) -> bool:
    numbers = origin.of(op.inputs[1 if op.name == "div" else 0])
    if op.name in _ARCS:
        return max(abs(numbers.low), abs(numbers.high)) >= 1 - 1e-6
    return numbers.low <= 0 <= numbers.high or bool(numbers.bad)


def _is_norm(origin: Origin, op: Op) -> bool:
    """A root over a sum of squares."""
    total = origin.listing.makers.get(op.inputs[0])
    if total is None or total.name != "reduce_sum":
        return False
    squares = origin.listing.makers.get(total.inputs[0])
    return squares is not None and squares.name in ("integer_pow", "square", "mul")


def _is_hidden(origin: Origin, op: Op) -> bool:
    """Does a select throw its bad values away, by a condition on the same input?"""
    readers = origin.listing.readers()
    todo = list(op.outputs)
    for _ in range(3):
        following: list[int] = []
        for reader in (r for i in todo for r in readers.get(i, ())):
            if reader.name == "select_n":
                condition = {i for o in origin.listing.behind(reader.inputs[0]) for i in o.inputs}
                return bool(condition.intersection(op.inputs))
            following += reader.outputs
        todo = following
    return False


def _history(history: History) -> list[Evidence]:
    told = []
    if history.losses:
        told.append(Evidence("last losses", history.last_losses()))
    if history.gradient_norms:
        told.append(Evidence("last gradient norms", history.last_gradient_norms()))
    return told


def _growth(history: History) -> list[Link]:
    told = [
        f"{name} {' → '.join(f'{value:.4g}' for value in values)}"
        for name, values in (("loss", history.last_losses()), ("gradient norm", history.last_gradient_norms()))
        if len(values) > 1
    ]
    return [Link(f"the last steps before it: {'; '.join(told)}")] if told else []
