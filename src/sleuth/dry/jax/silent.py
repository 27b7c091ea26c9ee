"""A difference of (N, 1) and (N,), which is an N × N matrix, on its way into a loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sleuth import handbook
from sleuth.dry.jax.equations import inner_jaxprs, line_of
from sleuth.findings import Evidence, Link
from sleuth.program import place_of

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# What a loss does with a difference before it sums it up.
_KEEPS_SHAPE = (
    "integer_pow",
    "square",
    "abs",
    "pow",
    "mul",
    "log",
    "neg",
    "jit",
    "pjit",
    "custom_jvp_call",
    "select_n",
)


def look(stage: Stage, closed: Any) -> None:
    _look_in(stage, closed.jaxpr)


def _look_in(stage: Stage, jaxpr: Any) -> None:
    makers = {id(made): equation for equation in jaxpr.eqns for made in equation.outvars}
    for equation in jaxpr.eqns:
        for inner in inner_jaxprs(equation):
            _look_in(stage, inner)
        if equation.primitive.name == "sub":
            column, row = _stretched(equation, makers)
            if column and row and _is_summed_up(equation, jaxpr):
                _tell(stage, equation, column, row)


def _stretched(equation: Any, makers: dict[int, Any]) -> tuple[Any, Any]:
    """The two shapes as the user has them, where one got its new first axis from the subtraction itself."""
    for one, other in (equation.invars, equation.invars[::-1]):
        maker: Any = makers.get(id(other))
        if not _adds_axes(maker) or _adds_axes(makers.get(id(one))):  # x[:, None] - y is meant to be a matrix
            continue
        column, row = one.aval.shape, maker.invars[0].aval.shape
        same_place = line_of(maker.source_info) == line_of(equation.source_info) is not None
        if same_place and len(row) == 1 and row[0] > 1 and column == (*row, 1):
            return column, row
    return None, None


def _adds_axes(maker: Any) -> bool:
    return maker is not None and maker.primitive.name in ("broadcast_in_dim", "reshape", "expand_dims")


def _is_summed_up(equation: Any, jaxpr: Any) -> bool:
    """Does it end in one number, by way of what keeps its shape?"""
    wanted = {id(made) for made in equation.outvars}
    for reader in jaxpr.eqns:
        if not wanted.intersection(id(given) for given in reader.invars):
            continue
        name = reader.primitive.name
        if name == "reduce_sum" and not reader.outvars[0].aval.shape:
            return True
        if name in _KEEPS_SHAPE:
            wanted |= {id(made) for made in reader.outvars}
    return False


def _tell(stage: Stage, equation: Any, column: Any, row: Any) -> None:
    line = line_of(equation.source_info)
    made = equation.outvars[0].aval.shape
    stage.journal.finding(
        handbook.finding(
            "loss-broadcast",
            place=None if line is None else place_of(*line),
            title=f"{column} minus {row} is {made}: each prediction is compared with every target",
            severity="warning",
            evidence=[Evidence("shapes", f"{column} and {row}"), Evidence("shape of the difference", str(made))],
            chain=[Link(f"the mean is taken over {made[0]} × {made[1]} differences, not {made[0]}")],
        )
    )
