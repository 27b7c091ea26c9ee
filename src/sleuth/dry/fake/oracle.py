"""Answers to a program that asks a hollow tensor for its numbers."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

from sleuth.dry.fake import hollow
from sleuth.dry.fake.branches import Branches
from sleuth.frameworks import torch_private
from sleuth.program import users_place

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Real = torch_private.get("torch._C._DisableTorchDispatch")

UNANSWERED: Any = object()
# An array of ones beyond this would take room for nothing.
_MOST_ONES = 1 << 24
T = torch.Tensor
_branches: WeakKeyDictionary[Stage, Branches] = WeakKeyDictionary()


def answer(stage: Stage, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call at the level of Python returns; UNANSWERED lets it run."""
    handler = _HANDLERS.get(func)
    if handler is None or not args or not isinstance(args[0], T) or not hollow.is_hollow(args[0]):
        return UNANSWERED
    return handler(stage, args, kwargs)


def scalar(stage: Stage, tensor: T, frame: FrameType | None) -> Any:
    """The one number of a tensor."""
    guess = hollow.guess_of(tensor)
    if tensor.dtype is torch.bool:
        return truth(stage, frame, guess)
    value = plausible(tensor)
    if not tensor.is_complex():
        value = type(value)(_branches.setdefault(stage, Branches()).number(frame, value))
    stage.journal.assume(users_place(frame), f".item() assumed {value}")
    return value


def truth(stage: Stage, frame: FrameType | None, guess: Any) -> bool:
    """The truth of a condition."""
    if guess is not hollow.ANYTHING and guess is not hollow.KNOWN:
        value = bool(guess)
    else:
        value = _branches.setdefault(stage, Branches()).decide(frame, otherwise=True)
    stage.journal.assume(users_place(frame), f"condition assumed {value}")
    return value


def plausible(tensor: T) -> Any:
    """A number that may stand for any of the tensor's."""
    guess = hollow.guess_of(tensor)
    known = guess is not hollow.ANYTHING and guess is not hollow.KNOWN
    if tensor.dtype is torch.bool:
        return bool(guess) if known else True
    if tensor.is_complex():
        return complex(guess if known else 1.0)
    if tensor.is_floating_point():
        return float(guess if known else 1.0)
    return int(guess) if known else 0


def _bool(stage: Stage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if args[0].numel() != 1:
        return UNANSWERED
    return truth(stage, sys._getframe(1), hollow.guess_of(args[0]))


def _tolist(stage: Stage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = plausible(args[0])
    stage.journal.assume(users_place(sys._getframe(1)), f".tolist() assumed {value}")
    result: Any = value
    for size in reversed(args[0].shape):
        result = [result] * size if not isinstance(result, list) else [list(_copied(result)) for _ in range(size)]
    return result


def _copied(nested: list[Any]) -> list[Any]:
    return [_copied(one) if isinstance(one, list) else one for one in nested]


def _numpy(stage: Stage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    tensor = args[0]
    if tensor.requires_grad and not kwargs.get("force"):
        return UNANSWERED
    value = plausible(tensor)
    stage.journal.assume(users_place(sys._getframe(1)), f".numpy() assumed all {value}")
    fill = value if not tensor.is_floating_point() else 1.0
    small = tensor.numel() <= _MOST_ONES
    with _Real():
        copy = (
            torch.full(tensor.shape, fill, dtype=tensor.dtype)
            if small
            else torch.empty(tensor.shape, dtype=tensor.dtype)
        )
        array = copy.numpy()
    dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
    return array if dtype is None else array.astype(dtype)


def _repr(stage: Stage, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    tensor = args[0]
    kind = str(tensor.dtype).removeprefix("torch.")
    where = stage.mode.shown_label(tensor)
    return f"<{kind}[{', '.join(map(str, tensor.shape))}] on {where}>"


_HANDLERS: dict[Any, Any] = {
    T.__bool__: _bool,
    torch.is_nonzero: _bool,
    T.is_nonzero: _bool,
    T.tolist: _tolist,
    T.numpy: _numpy,
    T.__array__: _numpy,
    T.__repr__: _repr,
}
