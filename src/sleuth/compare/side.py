"""A model in one runtime, as the comparison sees it; `sides/` holds one file a runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from sleuth.compare.values import Array, Batch, Captured, Input, Trained

if TYPE_CHECKING:
    from sleuth.compare.reference import Reference


class CannotCompare(Exception):
    """The comparison cannot be made; `str()` of it is the one line to show."""


class Side(ABC):
    """`title` is what the user called it, `runtime` what computes it, `precision` what its numbers are kept in."""

    title: str = ""
    runtime: str = ""
    precision: str = "float32"
    inputs: tuple[Input, ...] = ()
    # The sizes in `inputs` are those of an example: it may take others.
    learnt: bool = False
    # Of a quantised model, where it is known: the layers whose weights are int8, those that could be and are not.
    quantised: frozenset[str] | None = None
    left_in_float: tuple[str, ...] = ()
    # What the user should know about how it was made.
    notes: tuple[str, ...] = ()
    # Where a tool stumbled while it made it.
    defects: tuple[str, ...] = ()

    @abstractmethod
    def run(self, batch: Batch) -> list[Array]:
        """The outputs alone, flattened in order."""

    def capture(self, batch: Batch, wanted: Collection[str] | None = None) -> Captured:
        """The outputs and the inner values: all of them, or those of these names."""
        return Captured(self.run(batch))

    def reference(self, batch: Batch) -> Reference | None:
        """The model as a graph that can be run in float64, node by node, where there is one."""
        return None

    def own_fault(self, batch: Batch, parted: Callable[[list[Array]], bool]) -> str:
        """Where the runtime itself, not the model it was given, makes the outputs part: in a sentence, or nothing."""
        return ""

    def weights(self) -> Mapping[str, Array]:
        """Its parameters and buffers by name."""
        return {}

    def trained(self, batch: Batch, rate: float) -> Trained | None:
        """One step of training, where its runtime can train."""
        return None

    @property
    def size(self) -> int | None:
        """Bytes on disk, where it has a file, or else of its weights."""
        weights = self.weights()
        return sum(array.nbytes for array in weights.values()) if weights else None

    def close(self) -> None:  # noqa: B027  most hold nothing
        """Give back what it holds: a process, a file."""
