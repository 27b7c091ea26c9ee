"""Where an ONNX node comes from: the layer and the source line, in the words of the exporter that wrote it."""

from __future__ import annotations

import ast
from typing import Any

_SCOPES = "pkg.torch.onnx.name_scopes"
_CLASSES = "pkg.torch.onnx.class_hierarchy"
_STACK = "pkg.torch.onnx.stack_trace"


def origin(node: Any) -> dict[str, Any]:
    """As torch.export writes it into a node's `meta`."""
    told = {entry.key: entry.value for entry in node.metadata_props}
    meta: dict[str, Any] = {"onnx": f"{node.domain}::{node.op_type}" if node.domain else node.op_type}
    scopes = _listed(told.get(_SCOPES, ""))[:-1]
    classes = _listed(told.get(_CLASSES, ""))
    if scopes:
        classes += [""] * len(scopes)
        meta["nn_module_stack"] = {scope: (scope, kind) for scope, kind in zip(scopes, classes, strict=False)}
    elif layer := _layer_of_path(node.name):
        meta["nn_module_stack"] = {layer: (layer, "")}
    if told.get(_STACK):
        meta["stack_trace"] = told[_STACK]
    return meta


def _listed(text: str) -> list[str]:
    try:
        found = ast.literal_eval(text) if text else []
    except (SyntaxError, ValueError):
        return []
    return [str(one) for one in found] if isinstance(found, list) else []


def _layer_of_path(name: str) -> str:
    """`blocks.0.norm` of TorchScript's `/blocks.0/norm/Add`; `model/dense` of TensorFlow's `model/dense/MatMul`."""
    *path, _ = [part for part in name.split("/") if part and part != "StatefulPartitionedCall"] or [""]
    if not name.startswith("/"):
        return "/".join(path)
    # A child's path repeats its parent's: /blocks/blocks.0/norm
    own = [
        part for place, part in enumerate(path) if place + 1 == len(path) or not path[place + 1].startswith(f"{part}.")
    ]
    return ".".join(own)
