"""The arrays of a file of weights, whatever its format; nothing in it is executed unless it is trusted."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sleuth.compare.side import CannotCompare
from sleuth.compare.values import Array

FORMATS = ".npz, .npy, .safetensors, .pt, .pth, .bin, .ckpt, .pt2, .onnx, .keras, .h5"


def read(path: str | Path, trust: bool = False) -> dict[str, Array]:
    """By name, in the file's own order."""
    file = Path(path)
    if not file.is_file():
        raise CannotCompare(f"{path}: no such file")
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise CannotCompare(f"{path}: a file of weights is one of {FORMATS}")
    try:
        found = reader(file, trust)
    except CannotCompare:
        raise
    except ModuleNotFoundError as missing:
        raise CannotCompare(f"{path} needs {missing.name}, which is not installed here") from None
    except Exception as problem:  # each format fails in ways of its own
        reason = (str(problem).strip().splitlines() or [type(problem).__name__])[0]
        raise CannotCompare(f"{path} cannot be read: {reason}") from None
    if not found:
        raise CannotCompare(f"{path} holds no weights")
    return found


def _numpy(path: Path, trust: bool) -> dict[str, Array]:
    loaded = np.load(path, allow_pickle=False)
    return {path.stem: loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}


def _safetensors(path: Path, trust: bool) -> dict[str, Array]:
    from safetensors.torch import load_file

    from sleuth.compare.reference import as_array

    return {name: as_array(tensor) for name, tensor in load_file(path).items()}


def _torch(path: Path, trust: bool) -> dict[str, Array]:
    import pickle

    import torch

    from sleuth.compare.reference import as_array
    from sleuth.compare.weights_file import saved_by_torch

    if not saved_by_torch(path):
        raise CannotCompare(f"{path} cannot be read as a file of torch.save")
    try:
        loaded: Any = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        if not trust:
            raise CannotCompare(
                f"{path} is a pickle that holds more than weights; opening it would execute what is in it: "
                "if you trust it, say --trust"
            ) from None
        loaded = torch.load(path, map_location="cpu", weights_only=False)
    return {name: as_array(tensor) for name, tensor in _tensors(_state(loaded))}


def _state(loaded: Any) -> Any:
    """A checkpoint holds the weights under a name; a whole model gives them itself."""
    if hasattr(loaded, "state_dict"):
        return loaded.state_dict()
    for key in ("state_dict", "model_state_dict", "model", "net"):
        if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
            return loaded[key]
    return loaded


def _tensors(state: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    import torch

    if isinstance(state, torch.Tensor):
        yield prefix.rstrip(".") or "tensor", state
    elif isinstance(state, Mapping):
        for name, value in state.items():
            yield from _tensors(value, f"{prefix}{name}.")


def _exported(path: Path, trust: bool) -> dict[str, Array]:
    import torch

    from sleuth.compare.reference import as_array

    return {name: as_array(tensor) for name, tensor in torch.export.load(path).state_dict.items()}


def _onnx(path: Path, trust: bool) -> dict[str, Array]:
    import onnx
    from onnx import numpy_helper

    model = onnx.load(str(path))
    return {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}


def _keras(path: Path, trust: bool) -> dict[str, Array]:
    import io

    with zipfile.ZipFile(path) as archive:
        return _arrays_of_h5(io.BytesIO(archive.read("model.weights.h5")))


def _h5(path: Path, trust: bool) -> dict[str, Array]:
    return _arrays_of_h5(path)


def _arrays_of_h5(source: Any) -> dict[str, Array]:
    import h5py

    found: dict[str, Array] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiub" and not _of_training(name):
            found[name] = np.asarray(item)

    with h5py.File(source, "r") as file:
        file.visititems(visit)
    return found


def _of_training(name: str) -> bool:
    """Keras keeps the optimiser's state and the seeds of dropout beside the weights."""
    parts = name.split("/")
    return parts[0] in ("optimizer", "optimizer_weights") or "seed_generator" in parts


_READERS = {
    ".npz": _numpy,
    ".npy": _numpy,
    ".safetensors": _safetensors,
    ".pt": _torch,
    ".pth": _torch,
    ".bin": _torch,
    ".ckpt": _torch,
    ".pt2": _exported,
    ".onnx": _onnx,
    ".keras": _keras,
    ".h5": _h5,
}
