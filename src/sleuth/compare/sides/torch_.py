"""A PyTorch module, computed eagerly."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.utils import _pytree as pytree

from sleuth.compare.reference import Reference, as_array, as_tensor
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_call import CallForm, inputs_of
from sleuth.compare.sides.torch_copy import Borrowed, copied
from sleuth.compare.sides.torch_training import copy_for_training, trained_step
from sleuth.compare.values import Array, Batch, Captured, Input, Trained


class TorchSide(Side):
    """A copy of the module on the CPU, set to evaluation; `names` are the inputs that it takes by keyword."""

    def __init__(
        self,
        model: nn.Module,
        inputs: tuple[Input, ...] = (),
        title: str = "",
        names: tuple[str, ...] = (),
        example: Batch | None = None,
    ) -> None:
        self.title = title or type(model).__name__
        self.runtime = f"PyTorch {torch.__version__}, eager"
        self._borrowed = Borrowed()
        self.model = copied(model, self.title, self._borrowed)
        self.precision = precision_of(self.model)
        self.inputs = inputs
        self.example = example
        self.output_names: tuple[str, ...] = ()
        self._names = names
        self._form: CallForm | None = None
        self._references: dict[Any, Reference] = {}

    def learn_inputs(self, positional: tuple[Any, ...], named: Mapping[str, Any] | None = None) -> Batch:
        """From one example of its arguments, however nested; what is no tensor stays as it is in every call."""
        self._form = CallForm.of(self.model, positional, named or {})
        self.example = self._form.batch
        self.learnt = True
        self.inputs = inputs_of(self._form.names, self._form.batch)
        self._names = ()
        self._references.clear()
        return self._form.batch

    def call(self, batch: Batch) -> list[Tensor]:
        return self.called(*self.arguments(batch))

    def called(self, positional: tuple[Any, ...], named: dict[str, Any]) -> list[Tensor]:
        """The tensors of its answer, in order."""
        with torch.no_grad(), torch.random.fork_rng(devices=[]), self._borrowed:
            result = self.model(*positional, **named)
        named_leaves = [(name, leaf) for name, leaf in _named(result, "") if isinstance(leaf, Tensor)]
        if not named_leaves:
            raise CannotCompare(f"{self.title} gives no tensor back, but {type(result).__name__}")
        self.output_names = tuple(name or "output" for name, _ in named_leaves)
        return [leaf for _, leaf in named_leaves]

    def arguments(self, batch: Batch) -> tuple[tuple[Any, ...], dict[str, Any]]:
        tensors = [self._cast(as_tensor(array)) for array in batch]
        if self._form is not None:
            return self._form.filled(tensors)
        count = len(tensors) - len(self._names)
        return tuple(tensors[:count]), dict(zip(self._names, tensors[count:], strict=True))

    def run(self, batch: Batch) -> list[Array]:
        return [as_array(tensor) for tensor in self.call(batch)]

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        """Its own operations on its own numbers: what it keeps in fewer bits stays so."""
        inputs: Any = tuple(self._cast(as_tensor(array)) for array in batch)
        with torch.random.fork_rng(devices=[]):
            return self.reference(batch).trace(inputs, None, wanted)

    def reference(self, batch: Batch) -> Reference:
        """Written down anew for every shape of the inputs: an exported program may have them built in."""
        key = tuple((array.shape, array.dtype.name) for array in batch)
        if key not in self._references:
            with torch.random.fork_rng(devices=[]), self._borrowed:
                self._references[key] = self._exported(batch)
        return self._references[key]

    def _exported(self, batch: Batch) -> Reference:
        graph = Reference.of(*self.exportable(batch))
        graph.outputs = [
            one for one in graph.outputs if isinstance(one, fx.Node)
        ]  # as `called` leaves out texts and numbers
        return graph

    def exportable(self, batch: Batch) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
        """The module and its arguments such that each of them is a tensor of the batch."""
        model = getattr(self.model, "_orig_mod", self.model)  # what torch.compile was given
        if self._form is None or self._form.is_plain:
            return model, *self.arguments(batch)
        flat = dict(zip(self._form.names, (self._cast(as_tensor(array)) for array in batch), strict=True))
        return self._form.bound_to(model), (), flat

    def for_training(self, batch: Batch) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
        """A copy in training mode, and its arguments."""
        return copy_for_training(self.model), *self.arguments(batch)

    def trained(self, batch: Batch, rate: float) -> Trained:
        return trained_step(self, batch, rate)

    def weights(self) -> Mapping[str, Array]:
        return {
            name: as_array(tensor) for name, tensor in self.model.state_dict().items() if isinstance(tensor, Tensor)
        }

    def _cast(self, tensor: Tensor) -> Tensor:
        """A model kept in half or double precision takes its inputs so."""
        if self.precision == "float32" or not tensor.is_floating_point():
            return tensor
        return tensor.to(getattr(torch, self.precision))


def precision_of(model: nn.Module) -> str:
    """What its floating-point parameters are kept in, where they agree."""
    kinds = {str(one.dtype).removeprefix("torch.") for one in model.parameters() if one.is_floating_point()}
    return kinds.pop() if len(kinds) == 1 else "float32"


def _named(result: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The parts of an answer in order: `logits`, `hidden_states.0`."""
    if isinstance(result, Mapping):
        parts = [(str(key), part) for key, part in result.items()]
    elif isinstance(result, list | tuple):
        keys = getattr(result, "_fields", range(len(result)))
        parts = [(str(key), part) for key, part in zip(keys, result, strict=True)]
    else:
        leaves = pytree.tree_leaves(result)
        if len(leaves) == 1 and leaves[0] is result:
            yield name, result
            return
        parts = [(str(place), part) for place, part in enumerate(leaves)]
    for key, part in parts:
        yield from _named(part, f"{name}.{key}" if name else key)
