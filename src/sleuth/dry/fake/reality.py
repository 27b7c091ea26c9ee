"""The real kernels' word, where the fake ones are too lenient, too strict, or say it differently."""

from __future__ import annotations

import re
from typing import Any

import torch

from sleuth.dry.fake import hollow, operations
from sleuth.dry.fake.operations import Operation

# Elements of an operation without fake kernel that is run with made-up numbers instead.
_AFFORDABLE = 1 << 24
_ABOUT_TYPES = re.compile(
    r"not implemented for '(?!Half|BFloat16|ComplexHalf|Float8|UInt)|same d?type|scalar type|dtype|"
    r"type .* should be the same|can't be cast"
)
# Check their types in the kernel itself, which the fake ones skip. All of them can be given tiny tensors.
_TYPED_IN_KERNEL = frozenset(
    """mm addmm bmm baddbmm addbmm mv addmv dot vdot addr _softmax _log_softmax nll_loss_forward nll_loss2d_forward
    binary_cross_entropy binary_cross_entropy_with_logits index_add index_add_ index_copy index_copy_ mse_loss
    smooth_l1_loss huber_loss soft_margin_loss multi_margin_loss multilabel_margin_loss_forward embedding gather scatter
    scatter_ scatter_add scatter_add_ index_select take masked_fill masked_fill_ masked_scatter masked_scatter_ lerp
    lerp_ bernoulli bernoulli_ multinomial mean std var var_mean cumsum cumprod sort topk logsumexp norm
    linalg_vector_norm linalg_inv_ex linalg_cholesky_ex linalg_qr linalg_eigh _linalg_eigh _linalg_svd _linalg_det
    avg_pool2d avg_pool3d native_layer_norm native_batch_norm _native_batch_norm_legit native_dropout erfinv trace
    kthvalue median normal normal_ uniform_ renorm _cdist_forward convolution""".split()
)
# A kernel or window of the usual size must fit in.
_SIDES = {"avg_pool2d": 16, "avg_pool3d": 8}
_tried: set[Any] = set()


class WrongTypes(Exception):
    """`error` is what the real kernel says."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def check_types(func: Any, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Let the real kernel see tensors of these types, of one element each. Raises WrongTypes."""
    if operation.name not in _TYPED_IN_KERNEL and torch.Tag.pointwise not in func.tags:
        return
    key = (func, _types(args), _types(tuple(kwargs.values())))
    if key in _tried:
        return
    try:
        side = _SIDES.get(operation.name, 1)
        if operation.name == "native_layer_norm":
            args = (args[0], [1] * len(args[1]), *args[2:])
        func(*_tiny(args, side), **{name: _tiny(value, side) for name, value in kwargs.items()})
    except (RuntimeError, NotImplementedError, IndexError, ValueError) as error:
        if _ABOUT_TYPES.search(str(error)):
            raise WrongTypes(error.with_traceback(None)) from None
    _tried.add(key)


def _types(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.dtype, value.dim()
    if isinstance(value, (list, tuple)):
        return tuple(_types(one) for one in value)
    return type(value)


def _tiny(value: Any, side: int) -> Any:
    if isinstance(value, torch.Tensor):
        return torch.zeros((side,) * value.dim(), dtype=value.dtype)
    if isinstance(value, (list, tuple)):
        return type(value)(_tiny(one, side) for one in value)
    return value


def in_its_own_words(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call as the real kernel takes it, after the fake one has refused it: they check before they compute."""
    return _with_forgotten_numbers(func(*sane(args), **{name: sane(value) for name, value in kwargs.items()}))


def without_fake_kernel(
    func: Any, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor]
) -> Any:
    """The call with made-up numbers, for its shapes."""
    from sleuth.dry.stage import CannotGoOn

    if sum(one.numel() for one in given) > _AFFORDABLE:
        raise CannotGoOn(f"{func.namespace}.{operation.name} cannot be rehearsed without numbers")
    for one in operations.changed_tensors(operation, args, kwargs):
        hollow.forget_numbers(one)
    return _with_forgotten_numbers(func(*sane(args), **{name: sane(value) for name, value in kwargs.items()}))


def sane(value: Any) -> Any:
    """Unknown whole numbers become zeros: whatever lies in memory is no index."""
    if isinstance(value, torch.Tensor):
        if hollow.guess_of(value) is hollow.KNOWN or value.numel() > _AFFORDABLE:
            return value
        return value if value.is_floating_point() or value.is_complex() else torch.zeros_like(value)
    if isinstance(value, (list, tuple)):
        return type(value)(sane(one) for one in value)
    return value


def _with_forgotten_numbers(result: Any) -> Any:
    for one in result if isinstance(result, (list, tuple)) else (result,):
        if isinstance(one, torch.Tensor):
            hollow.forget_numbers(one)
    return result
