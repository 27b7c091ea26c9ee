"""Messages between a RemoteSide and its worker: a length and JSON, then each array as a length and an .npy file."""

from __future__ import annotations

import io
import json
import re
import struct
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, BinaryIO

import numpy as np

from sleuth.compare.side import Side
from sleuth.compare.values import Array, Trained, Value
from sleuth.findings import Place

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_LENGTH = struct.Struct("<Q")


def send(stream: BinaryIO, told: dict[str, Any], arrays: Sequence[Array]) -> None:
    _send(stream, json.dumps({**told, "arrays": len(arrays)}).encode())
    for array in arrays:
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(array), allow_pickle=False)
        _send(stream, buffer.getbuffer())
    stream.flush()


def received(stream: BinaryIO) -> tuple[dict[str, Any], list[Array]] | None:
    """None when the other end is closed, whether between two messages or in the middle of one."""
    text = _received(stream)
    if text is None:
        return None
    told = json.loads(text)
    arrays = []
    for _ in range(told.pop("arrays")):
        content = _received(stream)
        if content is None:
            return None
        arrays.append(np.load(io.BytesIO(content), allow_pickle=False))
    return told, arrays


def about(side: Side) -> dict[str, Any]:
    return {"runtime": side.runtime, "precision": side.precision, "inputs": [asdict(one) for one in side.inputs]}


def told(value: Value) -> dict[str, Any]:
    return asdict(value)


def heard(told: dict[str, Any]) -> Value:
    return Value(**{**told, "place": Place(**told["place"]) if told["place"] else None})


def told_trained(done: Trained | None) -> tuple[dict[str, Any], list[Array]]:
    if done is None:
        return {"not_trained": True}, []
    told = {"outputs": len(done.outputs), "gradients": list(done.gradients), "after": list(done.after)}
    return told, [*done.outputs, *done.gradients.values(), *done.after.values()]


def heard_trained(told: dict[str, Any], arrays: list[Array]) -> Trained:
    outputs, rest = arrays[: told["outputs"]], arrays[told["outputs"] :]
    slopes = dict(zip(told["gradients"], rest, strict=False))
    return Trained(outputs, slopes, dict(zip(told["after"], rest[len(slopes) :], strict=True)))


def one_line(problem: BaseException) -> str:
    """Its first line that says something: Keras begins with where it was, in colours."""
    lines = [_COLOUR.sub("", line).strip() for line in str(problem).splitlines()]
    told = [line for line in lines if line and not line.startswith("Exception encountered when calling")]
    return f"{type(problem).__name__}: {told[0]}" if told else type(problem).__name__


def _send(stream: BinaryIO, content: bytes | memoryview) -> None:
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)


def _received(stream: BinaryIO) -> bytes | None:
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    length = _LENGTH.unpack(head)[0]
    content = stream.read(length)
    return content if len(content) == length else None
