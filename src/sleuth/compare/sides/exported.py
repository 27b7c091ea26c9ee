"""A program that torch.export wrote: a .pt2 file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.export.graph_signature import ConstantArgument, InputKind

from sleuth.compare.reference import Reference, as_array, as_tensor, module_of
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.sides.torch_ import TorchSide, precision_of
from sleuth.compare.sides.torch_copy import Borrowed
from sleuth.compare.values import Array, Batch, Input

_ONLY_WEIGHTS = "TORCH_FORCE_WEIGHTS_ONLY_LOAD"


class ExportedSide(TorchSide):
    """The program as it is: its operations are those of the reference."""

    def __init__(
        self, source: str | Path | torch.export.ExportedProgram, title: str = "", *, trust: bool = False
    ) -> None:
        self.path = "" if isinstance(source, torch.export.ExportedProgram) else str(source)
        program = source if isinstance(source, torch.export.ExportedProgram) else read_program(source, trust)
        self.program = program
        self.title = title or self.path or "the exported program"
        self.runtime = f"PyTorch {torch.__version__}, exported program"
        self.model = module_of(program)
        self.precision = precision_of(self.model)
        self.inputs = inputs_of_program(program)
        self.example = _example(program)
        self.output_names = ()
        self._names = ()
        self._form = None
        self._borrowed = Borrowed()
        self._references = {}
        self._graph: Reference | None = None

    def arguments(self, batch: Batch) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Nested as they were when it was exported; what is no tensor is part of the program."""
        tensors = iter([self._cast(as_tensor(array)) for array in batch])
        leaves = [
            spec.arg.value if isinstance(spec.arg, ConstantArgument) else next(tensors)
            for spec in self.program.graph_signature.input_specs
            if spec.kind is InputKind.USER_INPUT
        ]
        positional, named = torch.utils._pytree.tree_unflatten(leaves, self.program.call_spec.in_spec)
        return tuple(positional), dict(named)

    def reference(self, batch: Batch) -> Reference:
        if self._graph is None:
            self._graph = Reference.of_exported(self.program)
        return self._graph

    @property
    def size(self) -> int | None:
        return os.path.getsize(self.path) if self.path and os.path.exists(self.path) else super().size


def read_program(path: str | Path, trust: bool = False) -> torch.export.ExportedProgram:
    """PyTorch itself falls back to executing a pickle that is inside; here that needs the user's trust."""
    if not os.path.exists(path):
        raise CannotCompare(f"there is no file {path}")
    try:
        with quietly(), open(path, "rb") as file, _weights_only(not trust):
            return torch.export.load(file)
    except Exception as problem:
        if "weights only" in str(problem).lower() or "weights_only" in str(problem).lower():
            raise CannotCompare(
                f"{path} holds pickled objects, which can run any code; give --trust if it comes from someone you trust"
            ) from None
        raise CannotCompare(f"{path} cannot be read as an exported program: {_first_line(problem)}") from None


@contextmanager
def _weights_only(wanted: bool) -> Iterator[None]:
    before = os.environ.get(_ONLY_WEIGHTS)
    if wanted:
        os.environ[_ONLY_WEIGHTS] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_ONLY_WEIGHTS, None)
        else:
            os.environ[_ONLY_WEIGHTS] = before


def inputs_of_program(program: torch.export.ExportedProgram) -> tuple[Input, ...]:
    """None where the program leaves a dimension open."""
    wanted = list(program.graph_signature.user_inputs)
    fakes = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    return tuple(
        Input(name, tuple(n if isinstance(n, int) else None for n in fakes[name].shape), _dtype(fakes[name]))
        for name in wanted
        if isinstance(name, str) and isinstance(fakes.get(name), torch.Tensor)
    )


def _example(program: torch.export.ExportedProgram) -> tuple[Array, ...] | None:
    """The inputs that it was exported with, where the file keeps them."""
    if program.example_inputs is None:
        return None
    leaves = torch.utils._pytree.tree_leaves(program.example_inputs)
    return tuple(as_array(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor))


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _first_line(problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return lines[0].split(". ")[0] if lines else type(problem).__name__
