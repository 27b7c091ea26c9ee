"""Where Sleuth listens in torch: backward, optimiser steps, DataLoaders, gradient scalers."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable
from typing import Any, Protocol

from sleuth.live.wraps import Wraps, after, after_result, before


class Listener(Protocol):
    """What the taps tell. A method may raise only to stop the program on purpose."""

    def optimizer_made(self, optimizer: Any) -> None: ...
    def module_with_buffers(self, module: Any) -> None: ...
    def backward_begins(self, tensors: Any) -> None: ...
    def backward_ended(self, tensors: Any) -> None: ...
    def step_begins(self, optimizer: Any, args: Any, kwargs: Any) -> Any: ...
    def step_ended(self, optimizer: Any) -> None: ...
    def again(self, iterator: Any) -> tuple[bool, Any]: ...
    def indices_drawn(self, iterator: Any, indices: Any) -> None: ...
    def loader_reset(self, iterator: Any) -> None: ...
    def loader_ended(self, iterator: Any) -> None: ...
    def dealt(self, iterator: Any, batch: Any) -> None: ...
    def loss_scaled(self, scaler: Any) -> None: ...
    def scaler_updates(self, scaler: Any) -> None: ...


class Taps:
    """All places in torch that call a listener. `install` needs torch to be imported already."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._wraps = Wraps()

    def install(self) -> None:
        import torch
        from torch import nn
        from torch.amp.grad_scaler import GradScaler
        from torch.optim import Optimizer
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
        from torch.utils.data.dataloader import _BaseDataLoaderIter

        listener = self._listener
        begins = register_optimizer_step_pre_hook(listener.step_begins)
        ended = register_optimizer_step_post_hook(lambda optimizer, args, kwargs: listener.step_ended(optimizer))
        self._wraps.also_undo(begins.remove, ended.remove)
        wrap = self._wraps.wrap
        wrap(torch.autograd, "backward", _around_backward(listener))
        wrap(Optimizer, "__init__", after(lambda self, *a, **k: listener.optimizer_made(self)))
        wrap(nn.Module, "register_buffer", after(lambda self, *a, **k: listener.module_with_buffers(self)))
        wrap(nn.Module, "__setstate__", after(lambda self, *a, **k: listener.module_with_buffers(self)))
        wrap(_BaseDataLoaderIter, "__next__", _around_next(listener))
        wrap(_BaseDataLoaderIter, "_next_index", after_result(listener.indices_drawn))
        wrap(_BaseDataLoaderIter, "_reset", before(lambda self, *a, **k: listener.loader_reset(self)))
        wrap(GradScaler, "scale", before(lambda self, *a, **k: listener.loss_scaled(self)))
        wrap(GradScaler, "update", before(lambda self, *a, **k: listener.scaler_updates(self)))

    def remove(self) -> None:
        self._wraps.remove()


def _around_backward(listener: Listener) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            listener.backward_begins(tensors)
            result = original(tensors, *args, **kwargs)
            listener.backward_ended(tensors)
            return result

        return backward

    return wrapper


def _around_next(listener: Listener) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        def __next__(self: Any) -> Any:  # noqa: N807
            dealt_again, batch = listener.again(self)
            if dealt_again:
                return batch
            try:
                batch = original(self)
            except StopIteration:
                listener.loader_ended(self)
                raise
            listener.dealt(self, batch)
            return batch

        return __next__

    return wrapper


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls back once the program itself has imported torch: a script may set OMP_NUM_THREADS or pick its devices
    before it does, and must find the torch it would find without us."""

    def __init__(self, callback: Callable[[], object]) -> None:
        self._callback = callback

    def install(self) -> None:
        if "torch" in sys.modules:
            self._callback()
        else:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch":
            return None
        self.remove()
        spec = importlib.util.find_spec("torch")
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: Any) -> None:
                load(module)
                self._callback()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
