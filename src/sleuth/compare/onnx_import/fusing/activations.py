"""GELU in its two forms, SiLU and Mish, out of the products that they are written as."""

from __future__ import annotations

import math
from typing import Any

from torch import fx

from sleuth.compare.onnx_import.building import aten
from sleuth.compare.onnx_import.fusing.matching import Matched, close, factors, is_op, operands, turn_into, used_once


def _gelu(graph: Matched, node: fx.Node) -> bool:
    """x (1 + erf(x / √2)) / 2, or with tanh in place of erf."""
    number, others = factors(node)
    if not is_op(node, "mul", "div") or len(others) != 2 or not close(number, 0.5):
        return False
    for value, raised in (others, others[::-1]):
        if not is_op(raised, "add") or not used_once(raised) or not close(raised.args[1], 1.0):
            continue
        curve = raised.args[0]
        if is_op(curve, "erf") and used_once(curve) and _is_scaled(curve.args[0], value, math.sqrt(0.5)):
            return turn_into(node, aten.gelu.default, value)
        if is_op(curve, "tanh") and used_once(curve) and _is_cubic(curve.args[0], value):
            return turn_into(node, aten.gelu.default, value, approximate="tanh")
    return False


def _is_scaled(node: Any, value: Any, wanted: float) -> bool:
    number, others = factors(node)
    return others == [value] and close(number, wanted)


def _is_cubic(node: Any, value: Any) -> bool:
    """√(2/π) (x + 0.044715 x³)."""
    number, others = factors(node)
    if len(others) == 1 and is_op(others[0], "add") and close(number, math.sqrt(2 / math.pi)):
        for first, second in operands(others[0], "add"):
            cube_number, cube = factors(second, True)
            if first is value and close(cube_number, 0.044715) and _is_cube(cube, value):
                return True
    return False


def _is_cube(parts: list[Any], value: Any) -> bool:
    if len(parts) == 1 and is_op(parts[0], "pow"):
        return parts[0].args[0] is value and parts[0].args[1] == 3
    return parts == [value] * 3


def _silu(graph: Matched, node: fx.Node) -> bool:
    for value, gate in operands(node, "mul"):
        if is_op(gate, "sigmoid") and used_once(gate) and gate.args[0] is value:
            return turn_into(node, aten.silu.default, value)
    return False


def _mish(graph: Matched, node: fx.Node) -> bool:
    for value, gate in operands(node, "mul"):
        if is_op(gate, "tanh") and used_once(gate) and is_op(gate.args[0], "softplus"):
            inner = gate.args[0]
            if used_once(inner) and inner.args == (value,):
                return turn_into(node, aten.mish.default, value)
    return False


RULES = (_gelu, _silu, _mish)
