"""Sessions of ONNX Runtime on the CPU, and what it refuses in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import onnx
import onnxruntime
import torch

from sleuth.compare.side import CannotCompare

_Level = onnxruntime.GraphOptimizationLevel
# As the file is written; and with ONNX Runtime's own changes to the graph, each level with those of the one before.
LEVELS = {
    "none": _Level.ORT_DISABLE_ALL,
    "basic": _Level.ORT_ENABLE_BASIC,
    "extended": _Level.ORT_ENABLE_EXTENDED,
    "all": _Level.ORT_ENABLE_ALL,
}
_RUNTIME = f"ONNX Runtime {onnxruntime.__version__}"
_FATAL = 4
_WEIGHTS_FOLDER = "session.model_external_initializers_file_folder_path"
_SPINNING = "session.intra_op.allow_spinning"

_CODE = re.compile(r"^\[ONNXRuntimeError\] : \d+ : (\w+) : ")
_SOURCE = re.compile(r"(?:/onnxruntime_src/)?\S+\.(?:cc|h|cpp):\d+ (?:.*?\) )?")
_OPSET = re.compile(r"Opset (\d+) is under development")
_IR = re.compile(r"Unsupported model IR version: (\d+), max supported IR version: (\d+)")
_NO_KERNEL = re.compile(r"Could not find an implementation for ([\w.:]+)\(\d+\)")
_NO_OPERATOR = re.compile(r"(?:Fatal error: ([\w.]*):(\w+)\(|No Op registered for (\w+))")


def session(model: Any, folder: str, title: str, level: str = "all") -> Any:
    """Of a model whose large weights may be in `folder`."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _FATAL
    options.graph_optimization_level = LEVELS[level]
    options.add_session_config_entry(_WEIGHTS_FOLDER, folder)
    # As many threads as PyTorch has, which wait asleep: by turns, neither takes the other's cores.
    options.intra_op_num_threads = torch.get_num_threads()
    options.add_session_config_entry(_SPINNING, "0")
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as problem:  # ONNX Runtime's errors have no class of their own in common
        raise CannotCompare(f"{title} cannot be run: {refusal(str(problem), model)}") from None


def run(session: Any, names: list[str], feeds: dict[str, Any], title: str) -> list[Any]:
    try:
        return list(session.run(names, feeds))
    except Exception as problem:
        raise CannotCompare(f"{title} cannot be run on these inputs: {refusal(str(problem))}") from None


def with_outputs(model: Any, names: Iterable[str]) -> Any:
    """The same model, which gives these values back too."""
    wider = onnx.ModelProto()
    wider.CopyFrom(model)
    wider.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return wider


def refusal(message: str, model: Any = None) -> str:
    """ONNX Runtime's message, in one line and without its own source."""
    if found := _OPSET.search(message):
        return f"{_RUNTIME} does not know opset {found[1]}: export it with an older one"
    if found := _IR.search(message):
        return f"its format is version {found[1]}, and {_RUNTIME} reads up to {found[2]}"
    if found := _NO_KERNEL.search(message):
        return _no_kernel(found[1].rpartition(":")[2], model)
    if found := _NO_OPERATOR.search(message):
        name = found[3] or (f"{found[1]}.{found[2]}" if found[1] else found[2])
        return f"{_RUNTIME} does not know its operator {name}"
    lines = _SOURCE.sub("", _CODE.sub("", message.strip())).splitlines()
    return lines[0].strip() if lines and lines[0].strip() else "ONNX Runtime says no more"


def _no_kernel(kind: str, model: Any) -> str:
    nodes = [node for node in (model.graph.node if model is not None else ()) if node.op_type == kind]
    if any(node.domain.startswith("com.microsoft") for node in nodes):
        return f"{_RUNTIME} has no {kind} for the CPU; the model was optimised for a GPU: compare it as it was before"
    return f"{_RUNTIME} has no {kind} of this type for the CPU"
