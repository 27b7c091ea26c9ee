"""The arrays that a failed operation was given, as the frames of the error still hold them."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType
from typing import Any

import jax
import numpy as np

from sleuth.dry.births import Argument, Call
from sleuth.dry.jax.history import birth_of
from sleuth.program import is_users

# So far below the user's line lie the frames that still know what the user passed.
_FRAMES = 4


def failed_call(error: BaseException) -> Call | None:
    """The operation that the user's innermost line called, with what it was given."""
    users, below = _frames(error)
    if users is None:
        return None
    best: list[tuple[str, Any]] = []
    operation = ""
    for frame in below[:_FRAMES]:
        found = [(name, one) for name, one in _arrays(frame) if isinstance(one, jax.Array) or name_in(users, one)]
        if len(found) > len(best):
            best, operation = found, _operation(frame)
        if len(best) > 1:
            break
    arguments = tuple(Argument(name, birth_of(array, name_in(users, array))) for name, array in best)
    line = _last_instruction(error, users)
    return Call(operation, arguments, "", users.f_code, line)


def _frames(error: BaseException) -> tuple[FrameType | None, list[FrameType]]:
    frames = []
    traceback = error.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    users = [number for number, frame in enumerate(frames) if is_users(frame.f_code.co_filename)]
    return (frames[users[-1]], frames[users[-1] + 1 :]) if users else (None, [])


def _last_instruction(error: BaseException, wanted: FrameType) -> int:
    instruction = wanted.f_lasti
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame is wanted:
            instruction = traceback.tb_lasti
        traceback = traceback.tb_next
    return instruction


def _arrays(frame: FrameType) -> Iterator[tuple[str, Any]]:
    seen = set()
    for name, value in frame.f_locals.items():
        for one in value if isinstance(value, tuple | list) else (value,):
            if _is_array(one) and id(one) not in seen:
                seen.add(id(one))
                yield name, one


def _is_array(value: Any) -> bool:
    return isinstance(value, jax.Array | np.ndarray)


def _operation(frame: FrameType) -> str:
    """`matmul` for `_operator_matmul`, and for the one function that stands for all operators of tracers."""
    name = frame.f_code.co_name
    if name in ("op", "meth"):
        name = str(frame.f_locals.get("name", name))
    return name.removeprefix("_operator_").strip("_")


def name_in(frame: FrameType, array: Any) -> str:
    """What the user calls an array in this frame: `x`, or `params['w1']`."""
    for name, value in frame.f_locals.items():
        if value is array:
            return name
    for name, value in frame.f_locals.items():
        if isinstance(value, dict | list | tuple):
            for path, leaf in jax.tree_util.tree_flatten_with_path(value)[0]:
                if leaf is array:
                    return name + str(jax.tree_util.keystr(path))
    return ""
