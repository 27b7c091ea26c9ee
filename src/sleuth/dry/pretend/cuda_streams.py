"""Streams and events: everything happens in order, and takes the time it takes here."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

# Events are told to lie at least this many milliseconds apart: a program may divide by it.
_SHORTEST = 0.01
_numbers = itertools.count(1)


class Stream:
    """A queue of work that is always empty."""

    stage: Stage

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        label = self.stage.devices.label("cuda" if device is None else device)
        self.device = torch.device(label)
        self.device_index = self.device.index or 0
        self.priority = priority
        self.stream_id = self.cuda_stream = next(_numbers)
        self.native_handle = self.cuda_stream

    def synchronize(self) -> None:
        """Wait for nothing."""

    def wait_stream(self, stream: Any) -> None:
        """Wait for nothing."""

    def wait_event(self, event: Any) -> None:
        """Wait for nothing."""

    def record_event(self, event: Any = None) -> Any:
        event = event or torch.cuda.Event()
        event.record(self)
        return event

    def query(self) -> bool:
        return True

    def is_capturing(self) -> bool:
        return False

    def __enter__(self) -> Stream:
        self._before = torch.cuda.current_stream()
        torch.cuda.set_stream(self)  # type: ignore[arg-type]
        return self

    def __exit__(self, *error: object) -> None:
        torch.cuda.set_stream(self._before)


class Event:
    """A moment."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **_: Any
    ) -> None:
        self.enable_timing = enable_timing
        self.at: float | None = None

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Wait for nothing."""

    def synchronize(self) -> None:
        """Wait for nothing."""

    def query(self) -> bool:
        return True

    def elapsed_time(self, end_event: Event) -> float:
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.at is None or end_event.at is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return max((end_event.at - self.at) * 1000, _SHORTEST)


class StreamContext:
    """`with torch.cuda.stream(s):`"""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        self._before = torch.cuda.current_stream()
        if self.stream is not None:
            torch.cuda.set_stream(self.stream)

    def __exit__(self, *error: object) -> None:
        torch.cuda.set_stream(self._before)


def install(stage: Stage) -> None:
    # The cards' own are a kind of the general ones.
    any_stream, any_event = type("Stream", (Stream,), {"stage": stage}), type("Event", (Event,), {})
    kind, event = type("Stream", (any_stream,), {}), type("Event", (any_event,), {})
    default: dict[str, Any] = {}
    current: dict[str, Any] = {}

    def label(device: Any = None) -> str:
        return stage.devices.label("cuda" if device is None else device)

    def default_stream(device: Any = None) -> Any:
        return default.setdefault(label(device), kind(device))

    def current_stream(device: Any = None) -> Any:
        return current.get(label(device)) or default_stream(device)

    def set_stream(stream: Any) -> None:
        if stream is not None:
            current[str(stream.device)] = stream

    def synchronize(device: Any = None) -> None:
        label(device)

    for owner in (torch.cuda, torch.cuda.streams):
        stage.patches.set(owner, "Stream", kind)
        stage.patches.set(owner, "Event", event)
    # torch looks at the stream before it asks the mode.
    stage.patches.set(torch.Tensor, "record_stream", lambda tensor, stream: None)
    stage.patches.set(torch, "Stream", any_stream)
    stage.patches.set(torch, "Event", any_event)
    for name, value in {
        "stream": lambda stream: StreamContext(stream),
        "StreamContext": type("StreamContext", (StreamContext,), {}),
        "default_stream": default_stream,
        "current_stream": current_stream,
        "set_stream": set_stream,
        "synchronize": synchronize,
        "is_current_stream_capturing": lambda: False,
    }.items():
        stage.patches.set(torch.cuda, name, value)
    stage.patches.set(torch.cuda.graphs, "is_current_stream_capturing", lambda: False)
