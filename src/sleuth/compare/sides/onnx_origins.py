"""What PyTorch's exporter wrote into an ONNX file about where each value comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sleuth.compare.origins import Origin

_FX_NODE = re.compile(r"%(\w+) : .*?target=(?:torch\.ops\.\w+\.(\w+)|([\w.]+))")
_ARGUMENT = re.compile(r"%(\w+)")
_QUOTED = re.compile(r"'([^']*)'")
_PREFIX = "pkg.torch.onnx."


def told(node: Any) -> Mapping[str, str]:
    """The exporter's notes on a node of the file, by their short names."""
    return {entry.key.removeprefix(_PREFIX): entry.value for entry in node.metadata_props}


def origins(graph: Any) -> dict[str, Origin]:
    """By value; only of values that are the result of an operation of the exported program, not of a piece of it."""
    outputs = {output.name for output in graph.output}
    names = {name for node in graph.node for name in node.output}
    found: dict[str, Origin] = {}
    for node in graph.node:
        notes = told(node)
        operation = _FX_NODE.match(notes.get("fx_node", ""))
        if operation is None:
            continue
        arguments = tuple(dict.fromkeys(_ARGUMENT.findall(notes["fx_node"][operation.end() :])))
        for name in node.output:
            renamed = name in outputs and operation[1] not in names and len(node.output) == 1
            if name == operation[1] or renamed:
                part = ""
            elif name.startswith("getitem"):
                part = name
            else:
                continue
            op = operation[2] or operation[3].rpartition(".")[2]
            found[name] = Origin(operation[1], op, layer_of(notes), notes.get("stack_trace", ""), arguments, part)
    return found


def layer_of(notes: Mapping[str, str]) -> str:
    """The innermost module; the last of the scopes is the operation itself."""
    scopes = _QUOTED.findall(notes.get("name_scopes", ""))
    return scopes[-2] if len(scopes) > 1 else ""
