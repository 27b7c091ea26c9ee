"""Mixed precision: the CPU's autocast stands in for the card's, for calls that take place on the card only.

torch keeps a state of autocast for each kind of device and lets a CPU build switch CUDA's. So `torch.autocast("cuda")`,
GradScaler and custom_fwd work as they are; what is left to do is to obey that state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from sleuth.dry.tensors import tensors_in

_LOW = (torch.float16, torch.bfloat16)
_HAVE_DTYPE = {"prod", "softmax", "log_softmax", "cumprod", "cumsum", "sum"}
# The card computes these in float32 (ATen/autocast_mode.h); the CPU's autocast leaves them in whatever they come in.
_IN_FLOAT32 = _HAVE_DTYPE | {
    "acos",
    "asin",
    "cosh",
    "erfinv",
    "exp",
    "expm1",
    "log",
    "log10",
    "log2",
    "log1p",
    "reciprocal",
    "rsqrt",
    "sinh",
    "tan",
    "pow",
    "rpow",
    "softplus",
    "softmin",
    "layer_norm",
    "rms_norm",
    "group_norm",
    "norm",
    "vector_norm",
    "matrix_norm",
    "linalg_norm",
    "linalg_vector_norm",
    "cosine_similarity",
    "cross_entropy",
    "nll_loss",
    "poisson_nll_loss",
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "kl_div",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "mse_loss",
    "margin_ranking_loss",
    "multilabel_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "multi_margin_loss",
    "binary_cross_entropy_with_logits",
    "dist",
    "pdist",
    "cdist",
    "renorm",
    "logsumexp",
    "interpolate",
    "upsample",
}
# The card's autocast has these in its low precision, the CPU's has not.
_IN_LOW = {
    "addmv",
    "addr",
    "mv",
    "einsum",
    "chain_matmul",
    "prelu",
    "lstm_cell",
    "gru_cell",
    "rnn_tanh_cell",
    "rnn_relu_cell",
}
# The card's autocast brings these to the widest of the types they are given.
_IN_WIDEST = {
    "addcdiv",
    "addcmul",
    "atan2",
    "bilinear",
    "cross",
    "dot",
    "vdot",
    "grid_sample",
    "grid_sampler",
    "index_put",
    "tensordot",
    "scatter_add",
}
_RECURRENT = {"lstm", "gru", "rnn_tanh", "rnn_relu"}
_UNSAFE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer.\n"
    "In this case, combine the two layers using torch.nn.functional.binary_cross_entropy_with_logits\n"
    "or torch.nn.BCEWithLogitsLoss.  binary_cross_entropy_with_logits and BCEWithLogits are\n"
    "safe to autocast."
)


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], label: str | None, name: str) -> Any:
    """The call as it goes under the autocast of the device it takes place on."""
    kind = (label or "cpu").partition(":")[0]
    if kind in ("cpu", "meta") or name.endswith("_"):
        return _plainly(func, args, kwargs, kind)
    if not torch.is_autocast_enabled(kind):
        return _plainly(func, args, kwargs, kind)
    dtype = torch.get_autocast_dtype(kind)
    if name == "binary_cross_entropy" and kind == "cuda":
        raise RuntimeError(_UNSAFE)
    if name in _RECURRENT:
        return _recurrent(func, args, kwargs, dtype)
    if _widens(name, args, kwargs):
        args, kwargs = _cast(args, _LOW, torch.float32), _cast(kwargs, _LOW, torch.float32)
    elif name in _IN_LOW:
        args, kwargs = _cast(args, _FLOATS, dtype), _cast(kwargs, _FLOATS, dtype)
    return _under(dtype, True, lambda: func(*args, **kwargs))


_FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def _widens(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if name in _IN_FLOAT32:
        return kwargs.get("dtype") is None
    return name in _IN_WIDEST and any(tensor.dtype == torch.float32 for tensor in tensors_in((args, kwargs)))


def _plainly(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kind: str) -> Any:
    """A call on a card does not heed an autocast that was asked for on the CPU."""
    if kind in ("cpu", "meta") or not torch.is_autocast_enabled("cpu"):
        return func(*args, **kwargs)
    return _under(torch.get_autocast_dtype("cpu"), False, lambda: func(*args, **kwargs))


def _under(dtype: torch.dtype, enabled: bool, act: Callable[[], Any]) -> Any:
    before = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
    torch.set_autocast_enabled("cpu", enabled)
    torch.set_autocast_dtype("cpu", dtype)
    try:
        return act()
    finally:
        torch.set_autocast_enabled("cpu", before[0])
        torch.set_autocast_dtype("cpu", before[1])


def _recurrent(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: torch.dtype) -> Any:
    """cuDNN's recurrent kernels take and give low precision throughout; the CPU has none."""
    results = _under(dtype, False, lambda: func(*_cast(args, _FLOATS, torch.float32), **kwargs))
    return _cast(results, (torch.float32,), dtype)


def in_float32(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that only a card has a kernel of low precision for: computed in float32, given back as it came."""
    low = next((tensor.dtype for tensor in tensors_in((args, kwargs)) if tensor.dtype in _LOW), None)
    if low is None and kwargs.get("dtype") in _LOW:
        low = kwargs["dtype"]
    if low is None:
        return func(*args, **kwargs)
    wide = {name: torch.float32 if value in _LOW else value for name, value in kwargs.items() if name == "dtype"}
    out = kwargs.get("out")
    given = {name: value for name, value in kwargs.items() if name not in ("out", "dtype")} | wide
    result = func(*_cast(args, _LOW, torch.float32), **_cast(given, _LOW, torch.float32))
    if isinstance(out, torch.Tensor):
        return out.copy_(result)
    if _is_in_place(func) and args and isinstance(args[0], torch.Tensor):
        return args[0].copy_(result)
    return _cast(result, (torch.float32,), low)


def _is_in_place(func: Any) -> bool:
    name = getattr(func, "__name__", "")
    return (name.endswith("_") and not name.startswith("__")) or (name.startswith("__i") and name != "__invert__")


def _cast(value: Any, kinds: tuple[torch.dtype, ...], dtype: torch.dtype) -> Any:
    """The value with all tensors of these kinds in it as `dtype`."""
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.dtype in kinds and value.dtype != dtype else value
    if isinstance(value, dict):
        return {name: _cast(one, kinds, dtype) for name, one in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(one, torch.Tensor | list | tuple) for one in value):
        parts = [_cast(one, kinds, dtype) for one in value]
        kind = type(value)
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    return value
