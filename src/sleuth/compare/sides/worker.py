"""The child process of a RemoteSide: opens one side and answers, in messages over its standard input and output."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any, BinaryIO

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides import remote_messages as messages


def opened(kind: str, asked: dict[str, Any]) -> Side:
    if kind == "keras":
        from sleuth.compare.sides import keras_live

        return keras_live.LiveKerasSide(keras_live.load(asked["path"], asked["trust"]), asked["title"])
    if kind == "savedmodel":
        from sleuth.compare.sides.savedmodel_live import LiveSavedModelSide

        return LiveSavedModelSide(asked["path"], asked["title"])
    raise CannotCompare(f"no such kind of model: {kind}")


def answer(side: Side, asked: dict[str, Any], arrays: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    if asked["do"] == "run":
        return {}, side.run(tuple(arrays))
    if asked["do"] == "capture":
        captured = side.capture(tuple(arrays), asked["wanted"])
        named = [value.name for value in captured.values]
        told = {"outputs": len(captured.outputs), "values": [messages.told(value) for value in captured.values]}
        return told, [*captured.outputs, *(captured.arrays[name] for name in named)]
    if asked["do"] == "train":
        return messages.told_trained(side.trained(tuple(arrays), asked["rate"]))
    weights = side.weights()
    return {"names": list(weights)}, list(weights.values())


def serve(inward: BinaryIO, outward: BinaryIO) -> None:
    """Until the other end is closed; whatever goes wrong is told in one line."""
    side: Side | None = None
    while (message := messages.received(inward)) is not None:
        asked, arrays = message
        try:
            if side is None:
                side = opened(asked["kind"], asked)
                messages.send(outward, messages.about(side), [])
            else:
                messages.send(outward, *answer(side, asked, arrays))
        except CannotCompare as problem:
            messages.send(outward, {"cannot": str(problem)}, [])
        except Exception as problem:
            messages.send(outward, {"cannot": messages.one_line(problem)}, [])


def _end_with(parent: int) -> None:
    """A parent that was killed in the middle of a long run closes nothing."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    inward, outward = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a framework prints must not get between the messages.
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    if hasattr(os, "getppid") and os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    serve(inward, outward)
    outward.close()


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    main()
