"""The module as PyTorch's exporter writes it into an ONNX file."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from sleuth.compare.reference import Reference
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.quietly import quietly
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.values import Batch
from sleuth.findings import Place
from sleuth.program import is_users, place_at

if TYPE_CHECKING:
    from sleuth.compare.sides.onnx_ import OnnxSide

_NEEDED = ("onnx", "onnxruntime", "onnxscript")
_NO_FUNCTION = re.compile(r"No ONNX function found for <OpOverload\(op='([\w.]+)'")
_AT_NODE = re.compile(r"Error when translating node %\w+ : .*?target=([\w.]+?)(?:\.\w+)?\]")
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def made(side: Side, batch: Batch) -> OnnxSide:
    return exported(side, batch)


def exported(side: Side, batch: Batch) -> OnnxSide:
    """Its shapes are those of the batch, as they are when nothing is said about them."""
    if not isinstance(side, TorchSide) or isinstance(side.model, torch.jit.ScriptModule):
        raise CannotCompare(f"{side.title} is no PyTorch module: it cannot be exported to ONNX")
    for package in _NEEDED:
        if importlib.util.find_spec(package) is None:
            raise CannotCompare(f"an export to ONNX needs {package}: pip install 'sleuth-ml[onnx]'")
    from sleuth.compare.sides.onnx_ import OnnxSide

    folder = tempfile.TemporaryDirectory(prefix="sleuth-onnx-")
    path = Path(folder.name) / "model.onnx"
    try:
        _export(side, batch, path)
        result = OnnxSide(path, f"{side.title} as onnx")
    except BaseException:
        folder.cleanup()
        raise
    result.keep(folder)
    return result


def _export(side: TorchSide, batch: Batch, path: Path) -> None:
    if isinstance(side, ExportedSide):
        model: Any = side.program
        positional, named = side.arguments(batch)
    else:
        model, positional, named = side.exportable(batch)
    with quietly(), _unprinted(), torch.random.fork_rng(devices=[]), torch.no_grad():
        try:
            torch.onnx.export(model, positional, str(path), kwargs=named, dynamo=True, verbose=False)
        except Exception as problem:
            raise CannotCompare(f"{side.title} cannot be exported to ONNX: {_why(problem, side, batch)}") from None


@contextlib.contextmanager
def _unprinted() -> Any:
    """The exporter reports its progress to whoever looks."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def _why(problem: BaseException, side: Side, batch: Batch) -> str:
    """The first cause, which the exporter wraps in advice, and where in the user's code it is."""
    chain = [problem]
    while (before := chain[-1].__cause__ or chain[-1].__context__) is not None:
        chain.append(before)
    texts = [_COLOUR.sub("", str(one)) for one in chain]
    for text in texts:
        if found := _NO_FUNCTION.search(text):
            return f"ONNX has nothing for {found[1]}{_shown(_place_of_op(found[1], side, batch))}"
    place = next((here for one in reversed(chain) if (here := _place_in(one)) is not None), None)
    for text in reversed(texts):
        if found := _AT_NODE.search(text):
            place = place or _place_of_op(found[1], side, batch)
    first = next((line.strip() for text in reversed(texts) for line in text.splitlines() if line.strip()), "")
    return f"{first or type(problem).__name__}{_shown(place)}"


def _place_in(problem: BaseException) -> Place | None:
    frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if is_users(frame.filename)]
    return place_at(frames[-1].filename, frames[-1].lineno or 1) if frames else None


def _place_of_op(name: str, side: Side, batch: Batch) -> Place | None:
    """The first line that computes it; an operation that is decomposed on the way has another name there."""
    wanted = name.rpartition(".")[2]
    try:
        graph: Reference | None = side.reference(batch)
    except CannotCompare:
        return None
    values = [graph.value(node) for node in graph.names] if graph is not None else []
    exact = [value.place for value in values if value.op == wanted]
    alike = [value.place for value in values if value.op.endswith(wanted)]
    return next(iter([*exact, *alike]), None)


def _shown(place: Place | None) -> str:
    return "" if place is None else f" ({place.path}:{place.line})"
