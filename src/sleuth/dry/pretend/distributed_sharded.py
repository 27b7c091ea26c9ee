"""FSDP and tensor parallelism: the module goes on whole, as it would seem to the program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from sleuth.dry.after_import import after_import

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_INNER = "_fsdp_wrapped_module"


def install(stage: Stage) -> None:
    after_import(stage, "torch.distributed.fsdp", lambda module: _patch(stage, module))
    for name in ("torch.distributed.tensor.parallel", "torch.distributed.tensor.parallel.api"):
        after_import(stage, name, lambda module: stage.patches.set(module, "parallelize_module", _parallelised))
    after_import(stage, "torch.distributed.tensor", lambda module: _distributing(stage, module))


def _patch(stage: Stage, module: Any) -> None:
    _wrapper(stage, module.FullyShardedDataParallel)
    plain = getattr(module, "fully_shard", None)
    if plain is not None:
        stage.patches.set(module, "fully_shard", _fully_shard(stage, module.FSDPModule))


def _wrapper(stage: Stage, kind: Any) -> None:
    """FullyShardedDataParallel(module): a module around the module."""

    def init(self: Any, module: nn.Module, *args: Any, device_id: Any = None, **kwargs: Any) -> None:
        nn.Module.__init__(self)
        if device_id is not None:
            module.to(device_id if isinstance(device_id, torch.device) else torch.device("cuda", device_id))
        self._modules[_INNER] = module
        self.training = module.training

    def get(self: Any, name: str) -> Any:
        try:
            return nn.Module.__getattr__(self, name)
        except AttributeError:
            return getattr(self._modules[_INNER], name)

    def clip_grad_norm(self: Any, max_norm: float, norm_type: float = 2.0) -> Any:
        return nn.utils.clip_grad_norm_(self.parameters(), max_norm, norm_type)

    def full_optim_state_dict(model: Any, optim: Any, *args: Any, **kwargs: Any) -> Any:
        return optim.state_dict()

    def named_parameters(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        return _unwrapped(nn.Module.named_parameters(self, *args, **kwargs))

    def named_buffers(self: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
        return _unwrapped(nn.Module.named_buffers(self, *args, **kwargs))

    def state_dict(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self._modules[_INNER].state_dict(*args, **kwargs)

    def load_state_dict(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        return self._modules[_INNER].load_state_dict(state, *args, **kwargs)

    for name, value in {
        "__init__": init,
        "__getattr__": get,
        "forward": lambda self, *args, **kwargs: self._modules[_INNER](*args, **kwargs),
        "module": property(lambda self: self._modules[_INNER]),
        "named_parameters": named_parameters,
        "named_buffers": named_buffers,
        "state_dict": state_dict,
        "load_state_dict": load_state_dict,
        "clip_grad_norm_": clip_grad_norm,
        "no_sync": lambda self: _as_it_is(),
        "summon_full_params": staticmethod(_as_it_is),
        "state_dict_type": staticmethod(_as_it_is),
        "set_state_dict_type": staticmethod(lambda *args, **kwargs: None),
        "full_optim_state_dict": staticmethod(full_optim_state_dict),
        "optim_state_dict": staticmethod(full_optim_state_dict),
        "sharded_optim_state_dict": staticmethod(full_optim_state_dict),
        "optim_state_dict_to_load": staticmethod(_given_state),
        "shard_full_optim_state_dict": staticmethod(lambda state, *args, **kwargs: state),
        "_apply": lambda self, *args, **kwargs: nn.Module._apply(self, *args, **kwargs),
    }.items():
        stage.patches.set(kind, name, value)


def _unwrapped(named: Iterator[Any]) -> Iterator[Any]:
    for name, one in named:
        yield name.replace(f"{_INNER}.", ""), one


def _given_state(*args: Any, **kwargs: Any) -> Any:
    """Of all it was given (the order has changed over the versions), the state."""
    return next(one for one in [*kwargs.values(), *args] if isinstance(one, dict))


@contextlib.contextmanager
def _as_it_is(*args: Any, **kwargs: Any) -> Iterator[None]:
    yield


class _Done:
    def wait(self) -> None:
        """It is there already."""


def _fully_shard(stage: Stage, marker: Any) -> Any:
    """A module that is whole needs none of what a sharded one can do."""
    for name in [name for name in vars(marker) if name.startswith("set_") or name == "reshard"]:
        stage.patches.set(marker, name, lambda self, *args, **kwargs: None)
    stage.patches.set(marker, "unshard", lambda self, async_op=False: _Done() if async_op else None)
    stage.patches.set(marker, "_apply", lambda self, *args, **kwargs: nn.Module._apply(self, *args, **kwargs))

    def fully_shard(module: Any, mesh: Any = None, **options: Any) -> Any:
        if not hasattr(torch.Tensor, "full_tensor"):
            _seem_sharded(stage, mesh)
        for one in module if isinstance(module, list) else [module]:
            kind = type(one)
            if not issubclass(kind, marker):
                one.__class__ = type(f"FSDP{kind.__name__}", (marker, kind), {})
        return module

    return fully_shard


def _distributing(stage: Stage, module: Any) -> None:
    """`distribute_tensor(...)`: the tensor goes on whole, on the devices of its mesh."""

    def distribute_tensor(tensor: Any, device_mesh: Any = None, *args: Any, **kwargs: Any) -> Any:
        kind = getattr(device_mesh, "device_type", None) or stage.devices.kind
        return tensor.detach().to(kind).requires_grad_(tensor.requires_grad)

    stage.patches.set(module, "distribute_tensor", distribute_tensor)


def _parallelised(module: Any, *args: Any, **kwargs: Any) -> Any:
    return module


def _seem_sharded(stage: Stage, mesh: Any) -> None:
    """What a program may ask of a parameter that is spread over several processes, and of what it is saved as."""
    from torch.distributed.tensor import Shard

    for name, value in {
        "placements": (Shard(0),),
        "device_mesh": mesh,
        "to_local": lambda tensor, *args, **kwargs: tensor,
        "full_tensor": lambda tensor, *args, **kwargs: tensor,
    }.items():
        stage.patches.set(torch.Tensor, name, value)
