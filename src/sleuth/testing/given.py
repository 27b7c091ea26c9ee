"""What the user gave an oracle: models, inputs, batches and losses, in all the shapes people have them in."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor, nn

Loss = Callable[[Any, Any], Any]


def checked_model(model: Any) -> nn.Module:
    from torch import nn

    if isinstance(model, nn.Module):
        return model
    hint = "; make one with its arguments first" if isinstance(model, type) and issubclass(model, nn.Module) else ""
    raise TypeError(f"the model must be a torch.nn.Module, not {_kind(model)}{hint}")


def checked_batch(batch: Any) -> tuple[Any, Any]:
    if isinstance(batch, tuple | list) and len(batch) == 2:
        return batch[0], batch[1]
    given = f"{_kind(batch)} of {len(batch)}" if isinstance(batch, tuple | list) else _kind(batch)
    raise TypeError(f"the batch must be a pair (inputs, targets), not {given}")


def checked_loss(loss: Any) -> Loss:
    if isinstance(loss, type):
        raise TypeError(f"the loss must be called as loss(outputs, targets): write {loss.__name__}(), not its class")
    if not callable(loss):
        raise TypeError(f"the loss must be callable as loss(outputs, targets), not {_kind(loss)}")
    return loss  # type: ignore[no-any-return]


def _kind(thing: Any) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__


def called(model: Any, inputs: Any) -> Any:
    """The model's outputs for copies of the inputs: a model may write into what it is given."""
    return passed(model, fresh(inputs))


def passed(model: Any, inputs: Any) -> Any:
    """A dict is given by name, a tuple or list one by one, anything else as the one argument."""
    if isinstance(inputs, Mapping):
        return model(**inputs)
    if isinstance(inputs, list) or type(inputs) is tuple:
        return model(*inputs)
    return model(inputs)


def loss_of(loss: Loss, outputs: Any, targets: Any) -> Tensor:
    """The loss, one number of a graph."""
    from torch import Tensor

    value = loss(outputs, fresh(targets))
    if not isinstance(value, Tensor):
        raise TypeError(f"the loss gave {_kind(value)}; it must give a tensor with one number")
    if value.numel() != 1:
        raise ValueError(
            f"the loss must be one number, but has the shape {tuple(value.shape)}: take its mean() or sum(), "
            "or leave reduction='none' out"
        )
    return value.reshape(())


def mapped(change: Callable[[Tensor], Any], value: Any) -> Any:
    """The same structure with every tensor in it changed."""
    from torch import Tensor

    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(change, item) for item in value))
    if isinstance(value, tuple | list):
        return type(value)(mapped(change, item) for item in value)
    if isinstance(value, Mapping):
        return {name: mapped(change, item) for name, item in value.items()}
    return value


def fresh(value: Any) -> Any:
    """The same structure with copies of all tensors."""

    def copied(tensor: Tensor) -> Tensor:
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)

    return mapped(copied, value)


def named_tensors(value: Any, name: str = "output") -> Iterator[tuple[str, Tensor]]:
    """Every tensor in a structure, with the way to it: `output[1]`, `output['logits']`."""
    from torch import Tensor

    if isinstance(value, Tensor):
        yield name, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from named_tensors(item, f"{name}[{key!r}]")
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from named_tensors(item, f"{name}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from named_tensors(getattr(value, field.name), f"{name}.{field.name}")


def number_from(outputs: Any) -> Tensor | None:
    """One number that depends on every floating-point output, each element with a weight of its own: sums alone are
    blind to what only moves weight around, as a softmax does. None where there is no such output."""
    import torch

    total: Tensor | None = None
    for _, tensor in named_tensors(outputs):
        if tensor.is_floating_point() and tensor.numel():
            weights = torch.linspace(0.5, 1.5, tensor.numel(), device=tensor.device, dtype=torch.float32)
            part = (tensor.float() * weights.reshape(tensor.shape)).mean()
            total = part if total is None else total + part
    return total


def copied_model(model: Any, optimizer: Any = None) -> tuple[Any, Any]:
    """The model and its optimiser, copied together."""
    memory: dict[int, Any] = {}
    try:
        model_copy, optimizer_copy = copy.deepcopy((model, optimizer), memory)
        for name, value in vars(optimizer).items() if optimizer is not None else ():
            # An optimiser copies what all of them have; some, as LBFGS, have more.
            if name not in vars(optimizer_copy) and not callable(value):
                setattr(optimizer_copy, name, copy.deepcopy(value, memory))
    except Exception as error:
        raise ValueError(f"the model cannot be copied, and oracles never touch the original: {error}") from error
    return model_copy, optimizer_copy
