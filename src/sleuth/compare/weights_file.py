"""A file of weights: read without running anything in it, and put into the module that they belong to."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.compare import python_reference
from sleuth.compare.side import CannotCompare
from sleuth.compare.sides.quietly import quietly

# Where training scripts keep the weights among other things.
_INSIDE = ("state_dict", "model_state_dict", "model", "module", "net", "weights", "params", "ema")
# What a wrapper puts before every name: DataParallel, torch.compile, Lightning.
_PREFIXES = ("", "module.", "_orig_mod.", "model.", "net.")
_MOST_NAMED = 3


def load_weights(path: Path, trust: bool) -> Any:
    """What the file holds: a mapping of tensors or, where the user trusts it, a whole module."""
    if not path.is_file():
        raise CannotCompare(f"{path}: no such file")
    if path.suffix.lower() == ".safetensors":
        return _safetensors(path)
    try:
        with quietly():
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        if not saved_by_torch(path):
            raise CannotCompare(f"{path} cannot be read as a file of torch.save") from None
        if not trust:
            raise CannotCompare(
                f"{path} holds Python objects, which run code when loaded: --trust, if you know where it is from"
            ) from None
    except Exception:  # what is no such file at all fails in many ways
        raise CannotCompare(f"{path} cannot be read as a file of torch.save") from None
    with python_reference.on_the_path(Path.cwd()):  # where the classes in it are likely to be
        return python_reference.in_users_words(
            lambda: torch.load(path, map_location="cpu", weights_only=False), f"{path} cannot be loaded"
        )


def saved_by_torch(path: Path) -> bool:
    """A zip file or a pickle; else PyTorch's complaint of unsafe things in it would ask for trust in mere noise."""
    with path.open("rb") as file:
        begins = file.read(2)
    return begins == b"PK" or begins[:1] == b"\x80"


def _safetensors(path: Path) -> Any:
    try:
        from safetensors.torch import load_file
    except ImportError:
        raise CannotCompare(f"{path} needs safetensors: pip install 'sleuth-ml[onnx]'") from None
    try:
        return load_file(str(path))
    except Exception:  # its own error, which it does not export
        raise CannotCompare(f"{path} cannot be read as safetensors") from None


def put_into(model: nn.Module, loaded: Any, model_title: str, file: str) -> None:
    """All of them, and nothing left over: a weight that stays as it was drawn is another model."""
    weights = tensors_in(loaded)
    if weights is None:
        raise CannotCompare(f"{file} holds no weights by name")
    wanted = {name: one for name, one in model.state_dict().items() if isinstance(one, Tensor)}
    given = _renamed(weights, wanted)
    missing, extra = [name for name in wanted if name not in given], [name for name in given if name not in wanted]
    shapes = [
        f"{name} of {_shape(given[name])} instead of {_shape(one)}"
        for name, one in wanted.items()
        if name in given and given[name].shape != one.shape
    ]
    words = (("without", missing), ("also with", extra), ("with", shapes))
    parts = [f"{word} {_some(names)}" for word, names in words if names]
    if parts:
        raise CannotCompare(f"{file} does not fit {model_title}: it is {', '.join(parts)}")
    model.load_state_dict(given, strict=False)


def tensors_in(loaded: Any) -> dict[str, Tensor] | None:
    """The mapping of tensors by name, however deep a training script put it."""
    if isinstance(loaded, nn.Module):
        loaded = loaded.state_dict()
    if not isinstance(loaded, Mapping):
        return None
    named = {str(name): one for name, one in loaded.items() if not str(name).endswith("_extra_state")}
    if named and all(isinstance(one, Tensor) for one in named.values()):
        return named
    for key in _INSIDE:
        found = tensors_in(loaded[key]) if key in loaded else None
        if found is not None:
            return found
    return None


def _renamed(weights: Mapping[str, Tensor], wanted: Mapping[str, Any]) -> dict[str, Tensor]:
    """Without the prefix that wrappers put before all names, where that makes more of them the model's own."""
    choices = [
        {name.removeprefix(prefix): one for name, one in weights.items()}
        for prefix in _PREFIXES
        if all(name.startswith(prefix) for name in weights)
    ]
    return max(choices, key=lambda one: len(one.keys() & wanted.keys()))


def _shape(tensor: Tensor) -> str:
    return " x ".join(map(str, tensor.shape)) or "one number"


def _some(names: list[str]) -> str:
    rest = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
