"""What the two models take, agreed between them: by one's own word, by the other's, or guessed and tried."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sleuth.compare import fit
from sleuth.compare.inputs.filling import filled
from sleuth.compare.inputs.guess import Guess, guesses, guesses_from_weights, nearer
from sleuth.compare.inputs.told_by_model import Arguments, told_by
from sleuth.compare.inputs.trying import first_line, problem_of_call, problem_with
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torch_call import inputs_of, parameters_of
from sleuth.compare.values import Batch, Input

_MOST_TRIES = 120
_ENOUGH_TRIES = 4


def settle(reference: Side, target: Side | None = None) -> Batch:
    """One example in the reference's order and layout. Afterwards a PyTorch module on either side knows its inputs."""
    example = _example(reference, target)
    if example is None:
        raise CannotCompare(
            f"{reference.title}: say what it takes: --inputs FILE.npz, or return (model, example_inputs)"
        )
    if not reference.inputs:
        reference.inputs, reference.learnt = _signature(target, example), True
    if target is None:
        return example
    if not target.inputs:
        problem = _taught(target, reference.inputs, example)
        if problem is not None:
            takes = f"{reference.title} takes, {fit.shown(reference.inputs)}"
            raise CannotCompare(f"{target.title} cannot be run on what {takes}: {problem}")
    resized = fit.in_sizes_of(target, reference, example)
    if resized is not None and problem_with(reference, resized) is None:
        example = resized
    fit.to(target, reference, example)  # raises, and names both, where what they take differs
    return example


def _taught(side: Side, inputs: tuple[Input, ...], example: Batch) -> str | None:
    """A side that does not know its inputs learns them from the other's; else why it does not take them."""
    if isinstance(side, TorchSide):
        return _learn(side, _from_other(side, inputs, example))
    taken = _first_taken(side, layouts(example))
    if taken is None:
        return problem_with(side, example)
    side.inputs = tuple(
        Input(one.name, array.shape, array.dtype.name) for one, array in zip(inputs, taken, strict=True)
    )
    side.learnt = True
    return None


def _signature(other: Side | None, example: Batch) -> tuple[Input, ...]:
    """The example's, under the other's names where there are as many."""
    known = [one.name for one in other.inputs] if other is not None else []
    names = known if len(known) == len(example) else [f"input_{place}" for place in range(len(example))]
    return inputs_of(names, example)


def _example(side: Side, other: Side | None) -> Batch | None:
    if isinstance(side, TorchSide) and side.example is not None:
        return side.example
    if side.inputs:
        return _first_taken(side, filled(side.inputs, None))
    if isinstance(side, TorchSide):
        return _learnt(side, other)
    if other is None:
        return _guessed(side)
    example = other.example if isinstance(other, TorchSide) else None
    if example is None and not other.inputs and isinstance(other, TorchSide):
        example = _learnt(other, None)
    shapes = filled(other.inputs, example) if other.inputs else iter(())
    return _first_taken(side, (batch for one in shapes for batch in layouts(one))) or _guessed(side)


def _learnt(side: TorchSide, other: Side | None) -> Batch | None:
    """The other's names come first: where `forward` has them, it is they that both take."""
    others = other.inputs if other is not None else ()
    named = bool(others) and {one.name for one in others} <= set(parameters_of(side.model))
    if named and _learn(side, _from_other(side, others, None)) is None:
        return side.example
    if _learn(side, told_by(side.model)) is None:
        return side.example
    if isinstance(other, TorchSide) and not others:
        _learn(other, told_by(other.model))
        others = other.inputs
    example = other.example if isinstance(other, TorchSide) else None
    if others and _learn(side, _from_other(side, others, example)) is None:
        return side.example
    return side.example if _learn_by_guessing(side) else None


def _first_taken(side: Side, batches: Iterable[Batch]) -> Batch | None:
    some = itertools.islice(batches, _MOST_TRIES)
    return next((batch for batch in some if problem_with(side, batch) is None), None)


def _guessed(side: Side) -> Batch | None:
    return _first_taken(side, ((one.tensor().numpy(),) for one in _by_weights(side)))


def _by_weights(side: Side) -> Iterator[Guess]:
    yield from guesses_from_weights(side.weights())


def _learn(side: TorchSide, examples: Iterator[Arguments]) -> str | None:
    """From the first that the module takes; else why it did not take the first."""
    first: str | None = None
    for positional, named in itertools.islice(examples, _MOST_TRIES):
        problem = problem_of_call(side, positional, named)
        if problem is None:
            side.learn_inputs(positional, named)
            return None
        first = first or first_line(problem)
    return first or "there is nothing to try"


def _learn_by_guessing(side: TorchSide) -> bool:
    """A size that nearly fits tells by its error which one would."""
    tried: set[tuple[Guess, ...]] = set()
    waiting = itertools.chain(guesses(side.model), ((one,) for one in _by_weights(side)))
    nearby: list[tuple[Guess, ...]] = []
    problems: set[str] = set()
    while True:
        guess = nearby.pop(0) if nearby else next(waiting, None)
        if guess is None:
            _blame(side, problems, len(tried))
            return False
        if guess in tried:
            continue
        tried.add(guess)
        tensors = tuple(one.tensor() for one in guess)
        problem = problem_of_call(side, tensors, {})
        if problem is None:
            side.learn_inputs(tensors)
            return True
        problems.add(first_line(problem))
        if len(guess) == 1 and not nearby:
            nearby = [(one,) for one in nearer(guess[0], problem)]


def _blame(side: TorchSide, problems: set[str], tries: int) -> None:
    """What a model says of every input alike is not about the inputs."""
    if tries >= _ENOUGH_TRIES and len(problems) == 1:
        raise CannotCompare(f"{side.title} fails on every input that was tried (others: --inputs): {problems.pop()}")


def _from_other(side: TorchSide, inputs: Sequence[Input], example: Batch | None) -> Iterator[Arguments]:
    """By name where its `forward` has such names, by place otherwise; in the other's layout, then in the other one."""
    names = [one.name for one in inputs]
    by_name = set(names) <= set(parameters_of(side.model))
    for batch in itertools.islice(filled(inputs, example), _MOST_TRIES):
        for arrays in layouts(batch):
            tensors = [torch.from_numpy(np.array(array)) for array in arrays]
            if by_name:
                yield (), dict(zip(names, tensors, strict=True))
            yield tuple(tensors), {}


def layouts(batch: Batch) -> Iterator[Batch]:
    """As it is, with the axes of its images turned about, and with ids as PyTorch has them."""
    yield batch
    turned = [[array.transpose(axes) for axes in fit.LAYOUTS if len(axes) == array.ndim] or [array] for array in batch]
    if any(one[0] is not array for one, array in zip(turned, batch, strict=True)):
        yield from itertools.islice(itertools.product(*turned), 4)
    if any(array.dtype == np.int32 for array in batch):
        yield tuple(array.astype(np.int64) if array.dtype == np.int32 else array for array in batch)


def turned_about(positional: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """A module's arguments with the axes of its images in the other order."""
    if not all(isinstance(one, Tensor) for one in positional):
        return
    batch = tuple(one.numpy() for one in positional)
    for arrays in itertools.islice(layouts(batch), 1, 5):
        yield tuple(torch.from_numpy(np.ascontiguousarray(one)) for one in arrays)
