"""Where Sleuth listens in torch: backward, optimiser steps, DataLoaders, gradient scalers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from sleuth.frameworks import torch_private
from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.dynamo import uncompiled
from sleuth.frameworks.torchscript import keep_builtins
from sleuth.live.wraps import Wraps, after, after_result, before

LOADER = "torch.utils.data.dataloader._BaseDataLoaderIter"


class Listener(Protocol):
    """What the taps tell. A method may raise only to stop the program on purpose."""

    def optimizer_made(self, optimizer: Any) -> None: ...
    def module_with_buffers(self, module: Any) -> None: ...
    def backward_begins(self, tensors: Any) -> None: ...
    def backward_ended(self, tensors: Any) -> None: ...
    def gradients_computed(self) -> None: ...
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
        self._wraps = Wraps(hide=uncompiled)
        self._hooks: list[Any] = []

    def install(self, imports: AfterImport) -> None:
        """Again where the program reloads a module, which forgets our taps."""
        imports.of("torch.autograd", self._tap_backward, again=True)
        imports.of("torch.optim.optimizer", self._tap_optimizers, again=True)
        imports.of("torch.nn.modules.module", self._tap_modules, again=True)
        imports.of("torch.utils.data.dataloader", self._tap_loaders, again=True)
        imports.of("torch.amp.grad_scaler", self._tap_scalers, again=True)

    def _tap_backward(self) -> None:
        import torch

        self._wraps.wrap(torch.autograd, "backward", _around_backward(self._listener))
        self._wraps.wrap(torch.autograd, "grad", before(lambda *a, **k: self._listener.gradients_computed()))
        keep_builtins(self._wraps.patches)

    def _tap_optimizers(self) -> None:
        from torch.optim import optimizer as optimizers

        listener = self._listener
        self._wraps.wrap(optimizers.Optimizer, "__init__", after(lambda self, *a, **k: listener.optimizer_made(self)))
        self._register_hooks()

    def _register_hooks(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        begins = uncompiled(_nothing, self._listener.step_begins)
        ended = uncompiled(_nothing, lambda optimizer, args, kwargs: self._listener.step_ended(optimizer))
        self._hooks = [register_optimizer_step_pre_hook(begins), register_optimizer_step_post_hook(ended)]
        self._wraps.also_undo(*(hook.remove for hook in self._hooks))

    def _tap_modules(self) -> None:
        from torch.nn.modules.module import Module

        listener = self._listener
        for name in ("register_buffer", "__setstate__"):
            self._wraps.wrap(Module, name, after(lambda self, *a, **k: listener.module_with_buffers(self)))

    def _tap_loaders(self) -> None:
        """Without one of these batches are not seen; all the rest is."""
        listener, iterator = self._listener, torch_private.get(LOADER)
        for name, wrapper in (
            ("__next__", _around_next(listener)),
            ("_next_index", after_result(listener.indices_drawn)),
            ("_reset", before(lambda self, *a, **k: listener.loader_reset(self))),
        ):
            if torch_private.has(f"{LOADER}.{name}"):
                self._wraps.wrap(iterator, name, wrapper)

    def _tap_scalers(self) -> None:
        from torch.amp.grad_scaler import GradScaler

        listener = self._listener
        self._wraps.wrap(GradScaler, "scale", before(lambda self, *a, **k: listener.loss_scaled(self)))
        self._wraps.wrap(GradScaler, "update", before(lambda self, *a, **k: listener.scaler_updates(self)))

    def mend(self) -> None:
        """At the first backward pass: are the optimisers' hooks still there?"""
        if not all(_is_in_place(hook) for hook in self._hooks):
            self._register_hooks()

    def lost(self) -> list[str]:
        """Where nothing is heard any more."""
        hooks = [] if all(_is_in_place(hook) for hook in self._hooks) else ["the optimisers' hooks"]
        return [*self._wraps.lost(), *hooks]

    def remove(self) -> None:
        self._wraps.remove()
        self._hooks = []


def _nothing(*args: Any) -> None:
    """What a hook does for a compiler."""


def _is_in_place(hook: Any) -> bool:
    hooks = hook.hooks_dict_ref()
    return hooks is not None and hook.id in hooks


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
