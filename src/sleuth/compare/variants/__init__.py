"""The same model as it will be deployed: compiled, in half precision, quantised, on another device, exported.

One file a way to make it; each holds `made(side, batch, …) -> Side`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from sleuth.compare.side import CannotCompare, Side
from sleuth.compare.values import Batch

# The name that the user gives, the file that makes it, and what else that is told.
_MADE_BY: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "compile": ("compiled", {}),
    "bf16": ("cast", {"precision": "bfloat16"}),
    "fp16": ("cast", {"precision": "float16"}),
    "float64": ("cast", {"precision": "float64"}),
    "autocast": ("autocast", {"precision": "bfloat16"}),
    "autocast-bf16": ("autocast", {"precision": "bfloat16"}),
    "autocast-fp16": ("autocast", {"precision": "float16"}),
    "int8": ("int8", {}),
    "cpu": ("device", {"device": "cpu"}),
    "cuda": ("device", {"device": "cuda"}),
    "channels_last": ("channels_last", {}),
    "fused": ("fused", {}),
    "onnx": ("onnx_export", {}),
    "onnx-int8": ("onnx_int8", {}),
}
NAMES = tuple(_MADE_BY)


def variant(side: Side, name: str, batch: Batch) -> Side:
    """The model of this side in another form; raises CannotCompare with the reason where it cannot be had."""
    if name not in _MADE_BY:
        raise CannotCompare(f"there is no variant called {name}; there are {', '.join(NAMES)}")
    file, told = _MADE_BY[name]
    try:
        maker = importlib.import_module(f"{__name__}.{file}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("sleuth"):
            raise
        raise CannotCompare(f"--as {name} needs {missing.name}: pip install 'sleuth-ml[onnx]'") from None
    made: Side = maker.made(side, batch, **told)
    return made
