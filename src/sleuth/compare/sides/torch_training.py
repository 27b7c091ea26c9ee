"""One training step of a PyTorch module, on a copy, without dropout."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from sleuth.compare.reference import as_array
from sleuth.compare.values import Batch, Trained

if TYPE_CHECKING:
    from sleuth.compare.sides.torch_ import TorchSide

_DROPOUTS = {
    functional.dropout,
    functional.dropout1d,
    functional.dropout2d,
    functional.dropout3d,
    functional.alpha_dropout,
    functional.feature_alpha_dropout,
    torch.dropout,
}


def trained_step(side: TorchSide, batch: Batch, rate: float, precision: str = "") -> Trained:
    """In the module's own precision, or with all of it in another one."""

    model, arguments, named = side.for_training(batch)
    dtype = getattr(torch, precision) if precision else None
    if dtype is not None:
        model = model.to(dtype)
        arguments, named = torch.utils._pytree.tree_map_only(Tensor, _cast_to(dtype), (arguments, named))
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), _WithoutDropout():
        outputs = [
            one for one in torch.utils._pytree.tree_leaves(model(*arguments, **named)) if isinstance(one, Tensor)
        ]
        loss = sum((_loss(one) for one in outputs if one.is_floating_point() and one.requires_grad), torch.zeros(()))
        assert isinstance(loss, Tensor)
        if loss.requires_grad:
            loss.backward()
    gradients = {name: one.grad for name, one in model.named_parameters() if one.grad is not None}
    with torch.no_grad():
        for name, one in model.named_parameters():
            if name in gradients:
                one.sub_(gradients[name], alpha=rate)
    return Trained(
        [as_array(one) for one in outputs],
        {name: as_array(one) for name, one in gradients.items()},
        {name: as_array(one) for name, one in model.state_dict().items() if isinstance(one, Tensor)},
    )


def copy_for_training(model: nn.Module) -> nn.Module:
    own = copy.deepcopy(model).train()
    own.zero_grad(set_to_none=True)
    return own


def _loss(output: Tensor) -> Tensor:
    return (output**2 / 2 + output**3 / 6).mean()


def _cast_to(dtype: torch.dtype) -> Callable[[Tensor], Tensor]:
    return lambda one: one.to(dtype) if one.is_floating_point() else one


class _WithoutDropout(TorchFunctionMode):
    """Chance cannot be compared."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in _DROPOUTS:
            return args[0] if args else kwargs["input"]
        if func is functional.scaled_dot_product_attention:
            if len(args) > 4:
                args = (*args[:4], 0.0, *args[5:])
            else:
                kwargs = {**kwargs, "dropout_p": 0.0}
        return func(*args, **kwargs)
