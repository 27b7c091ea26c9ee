"""An ONNX file: its graph in memory, and its weights where they are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import onnx
from onnx import external_data_helper, numpy_helper

from sleuth.compare.side import CannotCompare
from sleuth.compare.values import Array


def read(path: Path) -> Any:
    """The model, without the weights that are kept in files beside it."""
    if path.is_dir():
        raise CannotCompare(f"{path} is a folder, not an ONNX file")
    try:
        model = onnx.load(str(path), load_external_data=False)
    except FileNotFoundError:
        raise CannotCompare(f"there is no file {path}") from None
    except OSError as problem:
        raise CannotCompare(f"{path} cannot be read: {problem.strerror or problem}") from None
    except Exception:  # each version of protobuf has its own error
        raise CannotCompare(f"{path} is not an ONNX model") from None
    if not model.graph.node or not model.opset_import:
        raise CannotCompare(f"{path} is not an ONNX model, or an empty one")
    for name, file in _kept_outside(model).items():
        if not (path.parent / file).is_file():
            raise CannotCompare(f"{path}: its weight {name} is kept in {file}, which is not beside it")
    return model


def folder_of(path: Path) -> str:
    return str(path.parent.resolve())


def bytes_of(path: Path, model: Any) -> int:
    """The file with those that belong to it."""
    files = {path, *(path.parent / file for file in _kept_outside(model).values())}
    return sum(os.path.getsize(file) for file in files)


class Weights(Mapping[str, Array]):
    """By name; each is read when it is asked for."""

    def __init__(self, graph: Any, folder: str) -> None:
        self._tensors = {one.name: one for one in graph.initializer}
        self._folder = folder

    def __getitem__(self, name: str) -> Array:
        array: Array = numpy_helper.to_array(self._tensors[name], self._folder)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def _kept_outside(model: Any) -> dict[str, str]:
    return {
        one.name: external_data_helper.ExternalDataInfo(one).location
        for one in model.graph.initializer
        if external_data_helper.uses_external_data(one)
    }
