"""Inputs that the user gives: a file of arrays, tensors, a loader, or what a Python reference names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sleuth.compare import fit, python_reference
from sleuth.compare.inputs.sample import Sample
from sleuth.compare.inputs.saved import load
from sleuth.compare.inputs.settled import turned_about
from sleuth.compare.inputs.told_by_model import Arguments, as_arguments
from sleuth.compare.inputs.trying import first_line, problem_of_call, problem_with
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torch_call import is_tensor, parameters_of, required_by
from sleuth.compare.values import Array, Batch
from sleuth.compare.weights_file import load_weights

# Of a loader, so many batches are looked at.
MOST_BATCHES = 4
# What a training set has beside a model's inputs.
_ANSWERS = {"label", "labels", "target", "targets", "y"}


def given(what: Any, side: Side, *, trust: bool = False, most: int = MOST_BATCHES) -> list[Sample]:
    """As batches for this side, which learns from them what it takes where it did not know."""
    label, batches = _opened(what, trust)
    examples = [one for _, one in zip(range(most), batches, strict=False)]
    if not examples:
        raise CannotCompare(f"{label} has no batch in it")
    if len(examples) == 1:
        return [_sample(examples[0], side, label)]
    return [_sample(one, side, f"{label}, batch {place}") for place, one in enumerate(examples, 1)]


def _sample(example: Any, side: Side, label: str) -> Sample:
    """One that was saved keeps its label."""
    if not isinstance(example, tuple) or not example or not isinstance(example[0], Sample):
        return Sample(label, _batch(example, side, label))
    saved: Sample = example[0]
    return replace(saved, batch=_batch(dict(zip(example[1], saved.batch, strict=True)), side, label))


def _opened(what: Any, trust: bool) -> tuple[str, Iterator[Any]]:
    """A name for it, and its batches: tensors, tuples or mappings of them, or a saved sample with its names."""
    if not isinstance(what, str | Path):
        return "given", _batches(what, "the inputs given")
    reference = python_reference.split(str(what))
    if reference is not None and not Path(what).exists():
        found = python_reference.resolve(*reference)
        if callable(found) and not isinstance(found, Iterable):
            found = python_reference.called(found, str(what))
        return str(what), _batches(found, str(what))
    return Path(what).name, iter([_from_file(Path(what), trust)])


def _batches(found: Any, label: str) -> Iterator[Any]:
    if is_tensor(found) or isinstance(found, Mapping | tuple):
        return iter([found])
    if isinstance(found, Iterable):
        return iter(found)
    raise CannotCompare(f"{label}: neither tensors nor a loader, but {type(found).__name__}")


def _from_file(path: Path, trust: bool) -> Any:
    if not path.exists():
        raise CannotCompare(f"{path}: no such file")
    kind = path.suffix.lower()
    if kind == ".npz":
        return load(path)
    if kind == ".npy":
        return _npy(path)
    if kind in (".pt", ".pth", ".bin", ".safetensors"):
        return load_weights(path, trust)
    raise CannotCompare(f"{path}: inputs can be .npz, .npy, .pt, .safetensors, or file.py:loader, not {kind or 'this'}")


def _npy(path: Path) -> Array:
    try:
        array: Array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        raise CannotCompare(f"{path} cannot be read as .npy") from None
    return array


def _batch(example: Any, side: Side, label: str) -> Batch:
    if isinstance(side, TorchSide) and not side.inputs:
        return _for_torch(as_arguments(example), side, label)
    return _by_signature(as_arguments(example), side, label)


def _for_torch(arguments: Arguments, side: TorchSide, label: str) -> Batch:
    """By name where `forward` has these names; what is left over at the end (a loader's answers) stays out."""
    positional, named = arguments
    if named:
        positional, named = _named(named, side, label)
    else:
        positional = positional[: _count(side, positional)]
    _refuse_the_rest(positional, named, label)
    positional, named = _tensors(positional), {key: _tensor(one) for key, one in named.items()}
    positional, named = torch.utils._pytree.tree_map(_as_its_weights(side), (positional, named))
    first = problem_of_call(side, positional, named)
    if first is None:
        return side.learn_inputs(positional, named)
    for turned in turned_about(positional):
        if not named and problem_of_call(side, turned, named) is None:
            return side.learn_inputs(turned, named)
    raise CannotCompare(f"{side.title} cannot be run on {label}: {first_line(first)}")


def _named(named: Mapping[str, Any], side: TorchSide, label: str) -> Arguments:
    parameters = parameters_of(side.model)
    taken = {key: one for key, one in named.items() if key in parameters}
    required = required_by(side.model) or []
    optional_answers = [key for key in taken if key.lower() in _ANSWERS and key not in required]
    for key in optional_answers:
        del taken[key]
    if taken and set(required) <= set(taken):
        return (), taken
    if len(named) == len(required) or not required:  # names of its own, as input_0 or arr_0: by place
        return tuple(named.values()), {}
    missing = [name for name in required if name not in named]
    raise CannotCompare(f"{label} has {', '.join(named)}; {side.title} also needs {', '.join(missing)}")


def _count(side: TorchSide, positional: tuple[Any, ...]) -> int:
    """How many of a loader's parts are inputs: as many as `forward` requires."""
    required = required_by(side.model)
    if required is None:
        return len(positional)
    return max(len(required), 1)


def _by_signature(arguments: Arguments, side: Side, label: str) -> Batch:
    positional, named = arguments
    wanted = [one.name for one in side.inputs]
    if named and wanted and set(wanted) <= set(named):
        return tuple(_typed(_array(named[one.name], label), one.dtype) for one in side.inputs)
    found = _leaves(list(named.values()) if named else list(positional))
    if len(found) < len(wanted):
        raise CannotCompare(f"{label} has {len(found)} arrays; {side.title} takes {fit.shown(side.inputs)}")
    if wanted:
        return tuple(_typed(_array(one, label), own.dtype) for one, own in zip(found, side.inputs, strict=False))
    return _as_many_as_it_takes(side, tuple(_array(one, label) for one in found), label)


def _as_many_as_it_takes(side: Side, batch: Batch, label: str) -> Batch:
    """For a side that does not say: all of them, or as many of the first as it runs on."""
    first: str | None = None
    for count in range(len(batch), 0, -1):
        problem = problem_with(side, batch[:count])
        if problem is None:
            return batch[:count]
        first = first or problem
    raise CannotCompare(f"{label}: {side.title} {first}")


def _leaves(values: list[Any]) -> list[Any]:
    return [one for one in torch.utils._pytree.tree_leaves(values) if one is not None]


def _refuse_the_rest(positional: tuple[Any, ...], named: Mapping[str, Any], label: str) -> None:
    for one in (*positional, *named.values()):
        if isinstance(one, str | bytes) or (isinstance(one, np.ndarray) and one.dtype.kind in "OUS"):
            raise CannotCompare(f"{label} holds text where the model takes numbers")


def _tensors(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(_tensor(one) for one in values)


def _tensor(value: Any) -> Any:
    """NumPy's arrays as tensors; what is nested stays so."""
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size) and not hasattr(value, "_fields"):
        return type(value)(_tensor(one) for one in value)
    return {key: _tensor(one) for key, one in value.items()} if isinstance(value, Mapping) else value


def _as_its_weights(side: TorchSide) -> Callable[[Any], Any]:
    """NumPy's numbers are float64 where nothing else was said; that no weight is float64 says that none was meant."""
    types = {one.dtype for one in side.model.parameters() if one.is_floating_point()}
    single = types == {torch.float32}
    return lambda one: one.float() if single and is_tensor(one) and one.dtype == torch.float64 else one


def _typed(array: Array, wanted: str) -> Array:
    return array.astype(np.float32) if (array.dtype.name, wanted) == ("float64", "float32") else array


def _array(value: Any, label: str) -> Array:
    if isinstance(value, torch.Tensor):
        from sleuth.compare.reference import as_array

        return as_array(value)
    array = np.asarray(value)
    if array.dtype.kind not in "fiubcV":
        raise CannotCompare(f"{label} holds {array.dtype.name} where the model takes numbers")
    return array
