"""Images that nobody looks at: the numbers, as they are."""

from __future__ import annotations

from typing import Any

import torch


def make_grid(tensor: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return tensor[0]


def save_image(tensor: torch.Tensor, path: Any, *_: Any, **__: Any) -> None:
    with open(path, "wb") as file:
        file.write(tensor.detach().cpu().numpy().tobytes())
