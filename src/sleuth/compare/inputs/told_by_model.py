"""What a library's model says of its inputs: Lightning's `example_input_array`, Hugging Face's configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.compare.inputs.guess import ROWS, Guess

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
_LENGTH = 16


def told_by(model: nn.Module) -> Iterator[Arguments]:
    """Examples of its arguments, the likeliest first; each is still to be tried."""
    example = getattr(model, "example_input_array", None)
    if example is not None:
        yield as_arguments(example)
    if hasattr(getattr(model, "config", None), "to_dict") and hasattr(model, "main_input_name"):
        yield from _of_hugging_face(model)
        dummy = getattr(model, "dummy_inputs", None)
        if isinstance(dummy, Mapping) and dummy:
            yield (), dict(dummy)


def as_arguments(example: Any) -> Arguments:
    """A tuple or list is by place, a mapping by name, anything else the only one."""
    if isinstance(example, Mapping):
        return (), {str(key): value for key, value in example.items()}
    if isinstance(example, list | tuple):
        if len(example) == 2 and isinstance(example[1], dict) and isinstance(example[0], list | tuple):
            return tuple(example[0]), dict(example[1])  # (args, kwargs), as torch.export has them
        return tuple(example), {}
    return (example,), {}


def _of_hugging_face(model: Any) -> Iterator[Arguments]:
    main = _main_input(model)
    if main is None:
        return
    name, tensor = main
    named: dict[str, Any] = {name: tensor}
    if name == "input_ids":
        named["attention_mask"] = torch.ones_like(tensor)
    config = model.config
    if getattr(config, "is_encoder_decoder", False):
        named["decoder_input_ids"] = torch.full((ROWS, min(8, _longest(config))), _start(config), dtype=torch.int64)
    yield (), named
    if "attention_mask" in named:
        yield (), {key: value for key, value in named.items() if key != "attention_mask"}


def _main_input(model: Any) -> tuple[str, Tensor] | None:
    config = model.config
    name = str(model.main_input_name)
    if name == "input_ids":
        return name, Guess((ROWS, min(_LENGTH, _longest(config))), torch.int64, 1).tensor()
    if name == "pixel_values":
        side = getattr(config, "image_size", None) or 224
        sides = tuple(side) if isinstance(side, list | tuple) else (side, side)
        return name, Guess((ROWS, getattr(config, "num_channels", None) or 3, *sides)).tensor()
    if name == "input_values":
        return name, Guess((ROWS, 4000)).tensor()
    if name == "input_features":
        bins = getattr(config, "num_mel_bins", None) or 80
        return name, Guess((ROWS, bins, 2 * (getattr(config, "max_source_positions", None) or 1500))).tensor()
    return None


def _longest(config: Any) -> int:
    for name in ("max_position_embeddings", "n_positions", "max_seq_len"):
        size = getattr(config, name, None)
        if isinstance(size, int) and size > 0:
            return size
    return _LENGTH


def _start(config: Any) -> int:
    start = getattr(config, "decoder_start_token_id", None)
    return start if isinstance(start, int) and 0 <= start < getattr(config, "vocab_size", 1) else 0
