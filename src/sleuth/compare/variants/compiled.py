"""The module as torch.compile makes it, in generated code."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping

import numpy as np
import torch
from torch import Tensor, fx, nn

from sleuth.compare.reference import Reference, as_array, as_tensor
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Array, Batch, Captured, Value, is_real
from sleuth.compare.variants.of_torch import VariantSide, module_of, or_one_line

BACKEND = "inductor"
# Differences in the order of sums stay far below this; from here on it is worth to compile a second time to see where.
_WORTH_A_LOOK = 1e-5


def made(side: Side, batch: Batch) -> Side:
    model = module_of(side, "compile")
    _compiler_or_one_line()
    compiled = CompiledSide(side, model)
    compiled.run(batch)
    return compiled


class CompiledSide(VariantSide):
    """Only its outputs are those of the code that is deployed: for its inner values it must be compiled otherwise."""

    def __init__(self, side: Side, model: nn.Module) -> None:
        super().__init__(side, "compile", model)
        self.runtime = f"PyTorch {torch.__version__}, torch.compile"
        self.model = torch.compile(model, backend=BACKEND)  # type: ignore[assignment]

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        outputs = self.run(batch)
        if _near(outputs, self.origin.run(batch)):
            return Captured(outputs)
        return or_one_line(f"{self.title} cannot be run step by step", lambda: self._inner(batch, outputs, wanted))

    def _inner(self, batch: Batch, outputs: list[Array], wanted: Collection[str] | None) -> Captured:
        """All values as outputs, which keeps the compiler from fusing them away, and compiled so."""
        graph = self.reference(batch)
        asked = [name for name in graph.names if wanted is None or name in wanted]
        telling = torch.compile(_telling(graph, asked), backend=BACKEND)
        with torch.no_grad():
            results = telling(*[self._cast(as_tensor(array)) for array in batch])
        found = {name: one for name, one in zip(asked, results, strict=True) if isinstance(one, Tensor)}
        values = [_partnered(graph.value(name)) for name in found]
        return Captured(outputs, values, {name: as_array(one) for name, one in found.items()})

    def weights(self) -> Mapping[str, Array]:
        return {name.removeprefix("_orig_mod."): array for name, array in super().weights().items()}


def _telling(graph: Reference, asked: Collection[str]) -> fx.GraphModule:
    wider = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for node in graph.graph.graph.nodes:
        if node.op != "output":
            copies[node] = wider.node_copy(node, copies.__getitem__)
    wider.output(tuple(copies[graph.nodes[name]] for name in asked))
    return fx.GraphModule(graph.graph, wider)


def _partnered(value: Value) -> Value:
    return Value(value.name, value.op, value.layer, value.place, value.name)


def _near(ours: list[Array], theirs: list[Array]) -> bool:
    for one, other in zip(ours, theirs, strict=True):
        size = float(np.sqrt(np.mean(np.square(other, dtype=np.float64)))) if is_real(other) and other.size else 1.0
        if other.size and not np.abs(one - other).max() <= _WORTH_A_LOOK * size:
            return False
    return True


def _compiler_or_one_line() -> None:
    from torch._inductor.exc import InvalidCxxCompiler

    try:
        from torch._inductor.cpp_builder import get_cpp_compiler

        get_cpp_compiler()
    except InvalidCxxCompiler:
        raise CannotCompare("torch.compile needs a C++ compiler, such as g++, and there is none here") from None
    except ImportError:  # another version of PyTorch: it says so itself when it is run
        if shutil.which("g++") is None and shutil.which("clang++") is None and shutil.which("cl") is None:
            raise CannotCompare("torch.compile needs a C++ compiler, such as g++, and there is none here") from None
