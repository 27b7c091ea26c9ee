"""The rows of a record as TensorBoard event files, for those who have their curves there."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from sleuth.findings import Finding


class NoTensorBoard(RuntimeError):
    """The package that writes the files is not installed."""


class EventFiles:
    """Writes each row's values as scalars and each finding as text."""

    def __init__(self, folder: Path) -> None:
        try:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ModuleNotFoundError:
            raise NoTensorBoard("event files need tensorboard: pip install 'sleuth-ml[tensorboard]'") from None
        self._writer = EventFileWriter(str(folder))

    def row(self, row: dict[str, Any]) -> None:
        from tensorboard.compat.proto.summary_pb2 import Summary

        step = row["step"] + row["steps"] - 1
        values = [
            Summary.Value(tag=name, simple_value=float(value[0] if isinstance(value, list) else value))
            for name, value in row["v"].items()
        ]
        self._add(step, Summary(value=values))

    def finding(self, finding: Finding) -> None:
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.compat.proto.tensor_pb2 import TensorProto
        from tensorboard.compat.proto.types_pb2 import DT_STRING
        from tensorboard.plugins.text.metadata import create_summary_metadata

        at = f" at {finding.place.path}:{finding.place.line}" if finding.place is not None else ""
        text = f"{finding.title} [{finding.diagnosis}]{at}"
        tensor = TensorProto(dtype=DT_STRING, string_val=[text.encode()])
        metadata = create_summary_metadata(display_name="findings", description="")
        value = Summary.Value(tag=f"sleuth/{finding.diagnosis}", metadata=metadata, tensor=tensor)
        self._add(finding.step or 0, Summary(value=[value]))
        self._writer.flush()

    def _add(self, step: int, summary: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        self._writer.add_event(Event(wall_time=time.time(), step=step, summary=summary))

    def close(self) -> None:
        self._writer.close()
