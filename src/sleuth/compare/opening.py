"""A model that the user names or holds, opened as a side of the comparison."""

from __future__ import annotations

import importlib
import sys
import tempfile
import weakref
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sleuth.compare import python_reference
from sleuth.compare.inputs.given import given
from sleuth.compare.inputs.told_by_model import as_arguments
from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.sides.exported import ExportedSide
from sleuth.compare.sides.torch_ import TorchSide
from sleuth.compare.sides.torch_call import inputs_of
from sleuth.compare.sides.torchscript import TorchScriptSide
from sleuth.compare.weights_file import load_weights, put_into

_KERAS_PREFIXES = {
    "keras-torch": "torch",
    "keras-jax": "jax",
    "keras-tensorflow": "tensorflow",
}
_WEIGHTS = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")
# What only such a file has in it.
_OF_TORCHSCRIPT = "/constants.pkl"
_OF_EXPORTED = ("archive_format", "serialized_exported_program.json", "models/model.json")
_KINDS = "file.py:name, module:name, .pt2, .pt, .onnx, .keras, a SavedModel folder"


def open_side(spec: Any, *, trust: bool = False, inputs: Any = None, backend: str | None = None) -> Side:
    """From what stands on the command line, or from the object itself. `inputs` are given examples, as for `--inputs`.

    Nothing pickled is loaded without `trust`. Raises CannotCompare with the one line to show."""
    if isinstance(spec, str | Path):
        side = _named(str(spec), trust, backend)
    else:
        side = _held(spec, _title(spec), trust, backend)
    if inputs is not None and isinstance(side, TorchSide) and not side.inputs:
        given(inputs, side, trust=trust, most=1)
    return side


def _title(held: Any) -> str:
    if isinstance(held, tuple) and held:
        return _title(held[0])
    name = getattr(held, "__name__", None) or type(held).__name__
    return "exported program" if isinstance(held, torch.export.ExportedProgram) else str(name)


def _named(spec: str, trust: bool, backend: str | None) -> Side:
    prefix, _, rest = spec.partition(":")
    if prefix in _KERAS_PREFIXES:
        spec, backend = rest, _KERAS_PREFIXES[prefix]
    path = Path(spec)
    if path.exists():
        return _from_path(path, spec, trust, backend)
    reference, plus, weights = spec.rpartition("+")
    if plus and weights.lower().endswith(_WEIGHTS):
        return _with_weights(reference, weights, spec, trust, backend)
    parts = python_reference.split(spec)
    if parts is None:
        raise CannotCompare(_unknown(spec, path))
    return _held(_built(python_reference.resolve(*parts), spec), spec, trust, backend)


def _unknown(spec: str, path: Path) -> str:
    if path.suffix or "/" in spec:
        return f"{spec}: no such file"
    return f"{spec}: neither a file nor a Python reference; a model is one of {_KINDS}"


def _built(found: Any, spec: str) -> Any:
    """The model itself, made by a class or a function without arguments where that is what was named."""
    is_maker = isinstance(found, type) or (callable(found) and not _is_model(found))
    return python_reference.called(found, spec) if is_maker else found


def _is_model(found: Any) -> bool:
    return isinstance(found, nn.Module | torch.export.ExportedProgram | Side) or _is_keras(found)


def _from_path(path: Path, spec: str, trust: bool, backend: str | None) -> Side:
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return _side("savedmodel", "SavedModelSide", "tensorflow")(path, title=spec)
        raise CannotCompare(f"{spec} is a folder without saved_model.pb, so no SavedModel; name a file in it")
    kind = path.suffix.lower()
    if kind == ".onnx":
        return _side("onnx_", "OnnxSide", "onnx")(path, title=spec)
    if kind in (".keras", ".h5", ".hdf5"):
        return _side("keras_", "KerasSide", "keras")(path, backend, title=spec, trust=trust)
    if kind in (".pt2", *_WEIGHTS):
        return _from_torch_file(path, spec, trust)
    if kind == ".py":
        raise CannotCompare(_which_of(path, spec))
    raise CannotCompare(f"{spec}: a model is one of {_KINDS}, not {kind or 'this'}")


def _which_of(path: Path, spec: str) -> str:
    names = python_reference.own_names(python_reference.imported(str(path)))
    return f"{spec}: say which model, as {spec}:NAME" + (f" ({', '.join(names)})" if names else "")


def _from_torch_file(path: Path, spec: str, trust: bool) -> Side:
    """By what is inside: people call all of them .pt."""
    names = _names_inside(path)
    if path.suffix.lower() == ".pt2" or any(name.endswith(_OF_EXPORTED) for name in names):
        return ExportedSide(path, title=spec, trust=trust)
    if any(name.endswith(_OF_TORCHSCRIPT) for name in names):
        return TorchScriptSide(path, title=spec)
    loaded = load_weights(path, trust)
    model = loaded.get("model") if isinstance(loaded, dict) else loaded
    if isinstance(model, nn.Module):
        return _held(model, spec, trust, None)
    raise CannotCompare(f"{spec} holds weights alone: say the model too, as model.py:Net+{spec}")


def _names_inside(path: Path) -> list[str]:
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


def _with_weights(reference: str, weights: str, spec: str, trust: bool, backend: str | None) -> Side:
    parts = python_reference.split(reference)
    if parts is None:
        raise CannotCompare(f"{spec}: before the + stands the model, as model.py:Net+{weights}")
    built = _built(python_reference.resolve(*parts), reference)
    model = built[0] if isinstance(built, tuple) and built else built
    if not isinstance(model, nn.Module) or _is_keras(model):
        raise CannotCompare(f"{reference} is no PyTorch module to put weights into, but {type(model).__name__}")
    put_into(model, load_weights(Path(weights), trust), reference, weights)
    return _held(built, spec, trust, backend)


def _held(held: Any, title: str, trust: bool, backend: str | None) -> Side:
    """Of an object: a model, `(model, example_inputs)`, or `(function, params)`."""
    if isinstance(held, Side):
        return held
    if isinstance(held, tuple):
        return _of_pair(held, title, trust, backend)
    if _is_keras(held):
        return _side("keras_", "KerasSide", "keras")(held, backend, title=title)
    if isinstance(held, torch.jit.ScriptModule):
        return TorchScriptSide(held, title=title)
    if isinstance(held, nn.Module):
        return TorchSide(held, title=title)
    if isinstance(held, torch.export.ExportedProgram):
        return ExportedSide(held, title=title)
    if type(held).__name__ == "ONNXProgram" and hasattr(held, "save"):
        return _from_own_file(title, held.save)
    if type(held).__name__ == "ModelProto" and hasattr(held, "SerializeToString"):
        return _from_own_file(title, lambda path: importlib.import_module("onnx").save(held, path))
    if isinstance(held, type) or callable(held):
        return _held(python_reference.called(held, title), title, trust, backend)
    raise CannotCompare(f"{title}: {_article(held)} is no model")


def _of_pair(held: tuple[Any, ...], title: str, trust: bool, backend: str | None) -> Side:
    if len(held) < 2:
        raise CannotCompare(f"{title} gives a tuple of {len(held)}: (model, example_inputs) is expected")
    model, example = held[0], held[1]
    if hasattr(model, "apply") and hasattr(model, "init") and not _is_model(model):
        model = model.apply  # a Flax module: the function behind it
    if callable(model) and not _is_model(model):
        return _of_function(model, held[1:], title)
    side = _held(model, title, trust, backend)
    if isinstance(side, TorchSide):
        positional, named = as_arguments(example)
        side.learn_inputs(positional, named)
    return side


def _of_function(function: Callable[..., Any], rest: tuple[Any, ...], title: str) -> Side:
    """`(function, params)` or `(function, params, example_inputs)`."""
    side = _side("jax_", "JaxSide", "jax")(function, rest[0], title=title)
    if len(rest) > 1:
        positional, named = as_arguments(rest[1])
        batch = tuple(np.asarray(one) for one in (*positional, *named.values()))
        side.inputs = inputs_of([f"input_{place}" for place in range(len(batch))], batch)
        side.learnt = True
    return side


def _is_keras(held: Any) -> bool:
    keras = sys.modules.get("keras")
    return keras is not None and hasattr(keras, "Model") and isinstance(held, keras.Model)


def _from_own_file(title: str, save: Callable[[str], Any]) -> Side:
    """An ONNX model in memory, whose runtime reads it from a file: one that is there as long as the side is."""
    opened = _side("onnx_", "OnnxSide", "onnx")
    folder = tempfile.TemporaryDirectory(prefix="sleuth-")
    path = Path(folder.name) / "model.onnx"
    python_reference.in_users_words(lambda: save(str(path)), f"{title} cannot be saved")
    side = opened(path, title=title)
    weakref.finalize(side, folder.cleanup)
    return side


def _article(held: Any) -> str:
    return "None (does the function return it?)" if held is None else f"a thing of type {type(held).__name__}"


def _side(module: str, name: str, extra: str) -> Callable[..., Side]:
    """The class of a side, whose module is imported only now; a framework that is not there is told with its extra."""
    try:
        made: Callable[..., Side] = getattr(importlib.import_module(f"sleuth.compare.sides.{module}"), name)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("sleuth"):
            raise
        raise CannotCompare(f"this needs {missing.name}: pip install 'sleuth-ml[{extra}]'") from None
    return made
