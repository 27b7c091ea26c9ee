"""Calls that fake kernels take and real ones refuse, by what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def is_refused(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Would the real kernel refuse this call for its shapes, although the fake one takes it?"""
    look = _LOOKS.get(name)
    return look is not None and look(args, kwargs)


def _unlike_pixels(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    scores, target = args[0], args[1]
    return scores.dim() == 4 and (scores.shape[0], *scores.shape[2:]) != tuple(target.shape)


def _too_many_samples(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    replaced = args[2] if len(args) > 2 else kwargs.get("replacement", False)
    return not replaced and args[0].dim() > 0 and args[1] > args[0].shape[-1]


def _of_nothing(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return args[0].numel() == 0 and len(args) == 1 and not kwargs


def _no_such_dim(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    rank = max(1, args[0].dim())
    return not -rank <= args[1] < rank


def _unlike_mask(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    try:
        torch.broadcast_shapes(args[0].shape, args[1].shape)
    except RuntimeError:
        return True
    return args[1].dtype is not torch.bool


_LOOKS: dict[str, Callable[[tuple[Any, ...], dict[str, Any]], bool]] = {
    "nll_loss2d_forward": _unlike_pixels,
    "multinomial": _too_many_samples,
    "max": _of_nothing,
    "min": _of_nothing,
    "_softmax": _no_such_dim,
    "_log_softmax": _no_such_dim,
    "masked_select": _unlike_mask,
}
