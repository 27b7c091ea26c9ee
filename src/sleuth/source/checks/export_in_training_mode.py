"""A network with dropout or batch normalisation that is traced or exported without eval() before."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.findings import Finding, Fix
from sleuth.source import tell
from sleuth.source.sites import Step, Trace
from sleuth.source.values import Value

# torch.onnx.export without dynamo=True sets eval mode by itself.
_EXPORTS = frozenset(
    {"torch.jit.trace", "torch.export.export", "torch.export.export_for_training", "torch.onnx.export"}
)
_DIFFERS = (
    "torch.nn.Dropout",
    "torch.nn.BatchNorm",
    "torch.nn.AlphaDropout",
    "torch.nn.FeatureAlphaDropout",
    "torch.nn.SyncBatchNorm",
)


def trace(trace: Trace) -> Iterator[Finding]:
    ready: list[Value] = []
    for step in trace.steps:
        if step.act == "eval" and step.receiver is not None:
            ready.append(step.receiver)
        elif step.act == "train" and step.receiver in ready and not _says_false(step):
            ready.remove(step.receiver)
        elif step.act in ("unknown", "load_state_dict"):
            continue
        elif step.site.name in _EXPORTS and step.site.operands:
            network = step.site.operands[0]
            layer = _changes_with_mode(network)
            if layer is None or any(one is network for one in ready) or _sets_mode_itself(step):
                continue
            yield tell.found(
                "export-in-training-mode",
                step.site,
                severity="warning",
                certainty="likely",
                chain=[
                    tell.because(layer, "this layer does something else in training than in evaluation"),
                    tell.because(step.node, "what is recorded here is the training behaviour", step.site.spot.file),
                ],
                fixes=[Fix("call eval() on the network before it is traced or exported")],
            )


def _says_false(step: Step) -> bool:
    return bool(step.site.args) and step.site.args[0].const is False


def _sets_mode_itself(step: Step) -> bool:
    if step.site.name != "torch.onnx.export":
        return False
    dynamo = step.site.keywords.get("dynamo")
    return dynamo is None or dynamo.const is not True


def _changes_with_mode(network: Value, depth: int = 4) -> Value | None:
    if network.kind == "module" and network.api.startswith(_DIFFERS):
        return network
    if depth == 0 or network.kind not in ("module", "instance"):
        return None
    inside = [*(network.parts or ()), *network.attrs.values()]
    return next((found for one in inside if (found := _changes_with_mode(one, depth - 1)) is not None), None)
