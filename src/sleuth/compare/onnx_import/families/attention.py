"""Attention as PyTorch's one operation, where that does the same; else as ONNX defines it."""

from __future__ import annotations

from typing import Any

from sleuth.compare.onnx_import.building import Builder, Traced, aten
from sleuth.compare.onnx_import.operations import Step, operation

# PyTorch's operation knows of these; whatever else a later version of ONNX adds is left to its definition.
_KNOWN = {"is_causal", "q_num_heads", "kv_num_heads", "scale", "softcap", "softmax_precision", "qk_matmul_output_mode"}


@operation("Attention")
def _attention(b: Builder, s: Step) -> Any:
    mask, past = s.input(3), s.has(4) or s.has(5)
    causal = bool(s.get("is_causal", 0))
    unusual = s.get("softcap", 0.0) or s.has(6) or s.wants(3) or (causal and (past or mask is not None))
    if unusual or not set(s.attributes) <= _KNOWN or len(s.inputs) < 3:
        return NotImplemented
    query, key, value = (_heads(b, s, place) for place in range(3))
    if past:
        key = b.call(aten.cat.default, [s.inputs[4], key], 2)
        value = b.call(aten.cat.default, [s.inputs[5], value], 2)
    if mask is not None and mask.shape[-1] != key.shape[2]:
        return NotImplemented
    result = b.call(
        aten.scaled_dot_product_attention.default,
        query,
        key,
        value,
        mask,
        0.0,
        causal,
        scale=s.get("scale"),
        enable_gqa=query.shape[1] != key.shape[1],
    )
    if s.inputs[0].rank == 3:
        together = b.call(aten.transpose.int, result, 1, 2)
        result = b.call(aten.reshape.default, together, [*together.shape[:2], -1])
    return [result, key, value]


def _heads(b: Builder, s: Step, place: int) -> Traced:
    """Batch, heads, length, width."""
    value: Traced = s.inputs[place]
    if value.rank == 4:
        return value
    heads = s.get("q_num_heads" if place == 0 else "kv_num_heads")
    apart = b.call(aten.view.default, value, [*value.shape[:2], heads, value.shape[2] // heads])
    return b.call(aten.transpose.int, apart, 1, 2)
