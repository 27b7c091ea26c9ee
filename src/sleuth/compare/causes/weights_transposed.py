"""A matrix used the other way round: no shape forbids it when it is square, or when it was reshaped to fit."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from sleuth.compare.causes import Proposal, Target
from sleuth.compare.causes import _weights as weights
from sleuth.compare.causes._arguments import PRODUCTS, changed, is_floating, right_hand
from sleuth.compare.reference import Call

OPS = PRODUCTS | {"linear", "embedding"}
_FIX = "transpose the matrix once when it is loaded: PyTorch keeps (out, in), Keras, TensorFlow and JAX (in, out)"


def propose(call: Call, target: Target) -> Iterable[Proposal]:
    name = right_hand(call) if call.op in PRODUCTS else "weight"
    matrix = call.arguments[name]
    if not is_floating(matrix) or matrix.ndim != 2 or 1 in matrix.shape:
        return
    if call.op in PRODUCTS and not weights.is_weight(matrix, target):
        return
    if matrix.shape[0] == matrix.shape[1] and not torch.equal(matrix, matrix.t()):
        yield Proposal("its weight is transposed", _FIX, changed(name, Tensor.t))
    elif matrix.shape[0] != matrix.shape[1]:
        yield Proposal("its weight was reshaped where it should be transposed", _FIX, changed(name, _reshaped))


def _reshaped(matrix: Tensor) -> Tensor:
    return matrix.t().reshape(matrix.shape)
