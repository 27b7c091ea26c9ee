"""Where a value of an exported model comes from, in the exporter's words and in PyTorch's."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch import fx

from sleuth.compare.reference import op_of

Frames = tuple[tuple[str, int], ...]
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')

# Words of the exporter's graph, and those of PyTorch's own that they stand for.
_PLAIN = {
    "_native_batch_norm_legit_no_training": "batch_norm",
    "_native_batch_norm_legit": "batch_norm",
    "native_batch_norm": "batch_norm",
    "native_layer_norm": "layer_norm",
    "native_group_norm": "group_norm",
    "_fused_rms_norm": "rms_norm",
    "_softmax": "softmax",
    "_log_softmax": "log_softmax",
    "_to_copy": "to",
    "_unsafe_view": "reshape",
    "_prelu_kernel": "prelu",
    "_adaptive_avg_pool2d": "adaptive_avg_pool2d",
    "_adaptive_avg_pool3d": "adaptive_avg_pool3d",
    "max_pool2d_with_indices": "max_pool2d",
    "max_pool3d_with_indices": "max_pool3d",
    "split_with_sizes": "split",
}
_KINDS = {
    **dict.fromkeys(("view", "reshape", "flatten", "unflatten", "view_as", "reshape_as"), "view"),
    **dict.fromkeys(
        ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), "convolution"
    ),
    **dict.fromkeys(("to", "type_as", "_to_copy"), "to"),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The node of the exporter's own graph that a value is the result of: `op` is the exporter's word, `arguments` the
    nodes that it was computed from, `part` the value's own name where the node has several results."""

    node: str
    op: str
    layer: str
    stack: str
    arguments: tuple[str, ...] = ()
    part: str = ""


def plain(op: str) -> str:
    """PyTorch's word for an operation of the exporter's."""
    return _PLAIN.get(op, op)


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a node on either side."""

    layer: str
    kind: str
    frames: Frames


def of_node(node: fx.Node) -> Told:
    stack: Iterable[Any] = (node.meta.get("nn_module_stack") or {}).values()
    layer = str(next(reversed([entry[0] for entry in stack]), ""))
    return Told(layer, _kind(op_of(node)), _frames(node.meta.get("stack_trace") or ""))


def of_origin(origin: Origin) -> Told:
    return Told(origin.layer, _kind(origin.op), _frames(origin.stack))


def _kind(op: str) -> str:
    word = plain(op)
    return _KINDS.get(word, word)


def _frames(stack: str) -> Frames:
    """Without the folders, which may be another machine's."""
    return tuple((_short(path.replace("\\", "/")), int(line)) for path, line in _FRAME.findall(stack))


def _short(path: str) -> str:
    inside = path.rpartition("/torch/")
    return f"torch/{inside[2]}" if inside[1] else path.rpartition("/")[2]


def own_lines(frames: Frames) -> Frames:
    """Those outside PyTorch."""
    return tuple(frame for frame in frames if not frame[0].startswith("torch/"))
