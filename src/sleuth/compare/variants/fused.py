"""The module with each batch normalisation folded into the convolution before it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from torch import nn

from sleuth.compare.reference import Reference
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.values import Batch, Captured, Value
from sleuth.compare.variants.of_torch import VariantSide, module_of, or_one_line

_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


def made(side: Side, batch: Batch) -> Side:
    if isinstance(side, ExportedSide):
        raise CannotCompare(f"{side.title} has no layers any more: fusing needs the module that it was made from")
    with quietly():
        from torch.fx.experimental.optimization import fuse
    model = module_of(side, "fused")
    before = [path for path, module in model.named_modules() if isinstance(module, _NORMS)]
    if not before:
        raise CannotCompare(f"{side.title} has no batch normalisation that could be fused")
    fused: nn.Module = or_one_line(f"{side.title} cannot be fused", lambda: fuse(model))
    called = {str(node.target) for node in fused.graph.nodes if node.op == "call_module"}  # type: ignore[union-attr]
    made = FusedSide(side, fused, tuple(path for path in before if path in called))
    made.run(batch)
    return made


class FusedSide(VariantSide):
    def __init__(self, side: Side, model: nn.Module, left: tuple[str, ...]) -> None:
        super().__init__(side, "fused", model)
        if left:
            self.notes = (f"batch normalisations that were not fused: {', '.join(left)}",)

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        """What a fused convolution gives is what the normalisation behind it gave."""
        captured = super().capture(batch, wanted)
        graph = self.origin.reference(batch)
        absorbed = _absorbed(graph, self.model)
        captured.values = [_renamed(value, absorbed, graph) for value in captured.values]
        return captured


def _absorbed(graph: Reference, model: nn.Module) -> dict[str, str]:
    """By the convolution's layer: the normalisation that is no more."""
    called = {str(node.target) for node in model.graph.nodes if node.op == "call_module"}  # type: ignore[union-attr]
    found: dict[str, str] = {}
    for name in graph.names:
        value = graph.value(name)
        parents = [graph.value(parent) for parent in graph.parents(name)]
        if value.op == "batch_norm" and value.layer not in called and parents:
            found[parents[0].layer] = name
    return found


def _renamed(value: Value, absorbed: dict[str, str], graph: Reference) -> Value:
    if value.op.startswith("conv") and value.layer in absorbed:
        return replace(value, op="batch_norm", partner=absorbed[value.layer])
    return value
