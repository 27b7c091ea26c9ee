"""The module with its linear and recurrent layers in int8, their inputs quantised as they come."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sleuth.compare.reference import as_array
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.values import Array, Batch, Captured
from sleuth.compare.variants import layer_values
from sleuth.compare.variants.of_torch import VariantSide, module_of, or_one_line

# What PyTorch's dynamic quantisation has an int8 layer for.
_QUANTISABLE = (nn.Linear, nn.LSTM, nn.GRU)
# Nothing is gained by quantising a layer this small.
_LEAST_NUMBERS = 64
# A share of weights left in floating point that is worth a note.
_MUCH = 0.05
# So many of the 127 steps are left to most channels: a dozen.
_UNEVEN = 10.0


def made(side: Side, batch: Batch) -> Side:
    if isinstance(side, ExportedSide):
        raise CannotCompare(f"{side.title} has no layers any more: dynamic int8 needs the module that it was made from")
    model = module_of(side, "int8")
    with quietly():
        from torch.ao.quantization import quantize_dynamic

        quantised: nn.Module = or_one_line(
            f"{side.title} cannot be quantised", lambda: quantize_dynamic(model, set(_QUANTISABLE), dtype=torch.qint8)
        )
    int8 = Int8Side(side, quantised)
    if not int8.quantised:
        raise CannotCompare(f"{side.title} has no linear or recurrent layer: dynamic int8 leaves it as it is")
    int8.run(batch)
    return int8


class Int8Side(VariantSide):
    """`model` is quantised already, by whatever means of PyTorch's that works on modules."""

    def __init__(self, side: Side, model: nn.Module) -> None:
        super().__init__(side, "int8", model)
        self.runtime = f"PyTorch {torch.__version__}, {torch.backends.quantized.engine}"
        self.precision = "int8"
        self.quantised = frozenset(path for path, module in model.named_modules() if _is_quantised(module))
        self.left_in_float = tuple(path for path, module in model.named_modules() if _is_left(module))
        self.notes = tuple(_notes(side, model))

    def surroundings(self) -> Any:
        return _without_fast_path()

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        graph = self.origin.reference(batch)
        return or_one_line(
            f"{self.title} cannot be run",
            lambda: layer_values.captured(self.model, _layers(self.model), lambda: self.call(batch), graph, wanted),
        )

    def reference(self, batch: Batch) -> Any:
        """Its int8 operations have no counterpart in float64."""
        return None

    def weights(self) -> Mapping[str, Array]:
        """By the names that they had before; those in int8 as the numbers that they stand for."""
        return {name: as_array(tensor) for name, tensor in _weights(self.model)}

    @property
    def size(self) -> int:
        return sum(tensor.numel() * tensor.element_size() for _, tensor in _weights(self.model))


@contextmanager
def _without_fast_path() -> Iterator[None]:
    """PyTorch's fused encoder layer reaches for the float weights of layers that are quantised."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _weights(model: nn.Module) -> Iterator[tuple[str, Tensor]]:
    for path, module in model.named_modules():
        if not _is_quantised(module):
            own = (*module.named_parameters(recurse=False), *module.named_buffers(recurse=False))
        elif hasattr(module, "get_weight"):
            own = (*module.get_weight().items(), *module.get_bias().items())
        else:
            own = (("weight", module.weight()), ("bias", module.bias()))
        yield from ((f"{path}.{name}" if path else name, one) for name, one in own if isinstance(one, Tensor))


def _notes(side: Side, model: nn.Module) -> Iterator[str]:
    total = sum(array.size for array in side.weights().values())
    left = sum(one.numel() for one in model.parameters())
    if total and left / total >= _MUCH:
        yield f"{left / total:.0%} of the weights are still floating point"
    for path, ratio in _ruled_by_one_channel(side):
        if path in {name for name, module in model.named_modules() if _is_quantised(module)}:
            yield (
                f"one channel of {path} is {ratio:.0f} times as large as most and sets the step of all: "
                "torch.ao.quantization.per_channel_dynamic_qconfig gives each its own"
            )
    if any(isinstance(module, nn.TransformerEncoderLayer) for module in model.modules()):
        yield "it runs only after torch.backends.mha.set_fastpath_enabled(False)"


def _ruled_by_one_channel(side: Side) -> Iterator[tuple[str, float]]:
    for name, weight in side.weights().items():
        if name.endswith(".weight") and weight.ndim == 2 and weight.size:
            ranges = np.abs(weight).max(axis=1)
            ratio = float(ranges.max() / max(float(np.median(ranges)), np.finfo(np.float32).tiny))
            if ratio >= _UNEVEN:
                yield name.removesuffix(".weight"), ratio


def _is_quantised(module: nn.Module) -> bool:
    return hasattr(module, "from_float") and ".quantized" in type(module).__module__


def _is_left(module: nn.Module) -> bool:
    own = module.parameters(recurse=False)
    return any(one.dim() > 1 and one.numel() >= _LEAST_NUMBERS and one.is_floating_point() for one in own)


def _layers(model: nn.Module) -> frozenset[str]:
    """Those without others inside; a quantised one counts as one, whatever it holds."""
    found: set[str] = set()
    for path, module in model.named_modules():
        is_layer = _is_quantised(module) or not any(True for _ in module.children())
        if path and is_layer and not any(path.startswith(f"{other}.") for other in found):
            found.add(path)
    return frozenset(found)
