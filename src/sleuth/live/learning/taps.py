"""Where Sleuth listens in torch besides `live.taps`: all that tells how a training loop is wired."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from sleuth.frameworks.after_import import AfterImport
from sleuth.frameworks.dynamo import uncompiled
from sleuth.live.wraps import Wraps, after, before

LOSSES = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "kl_div",
)


class WiringListener(Protocol):
    """What these taps tell."""

    def module_made(self, module: Any) -> None: ...
    def parameter_registered(self, module: Any, name: str, parameter: Any) -> None: ...
    def scheduler_made(self, scheduler: Any) -> None: ...
    def scheduler_steps(self, scheduler: Any) -> None: ...
    def loader_made(self, loader: Any) -> None: ...
    def loader_started(self, loader: Any) -> None: ...
    def gradients_zeroed(self, owner: Any) -> None: ...
    def gradients_clipped(self, parameters: list[Any]) -> None: ...
    def mode_switched(self, module: Any, training: bool) -> None: ...
    def state_loaded(self, module: Any) -> None: ...
    def initialised(self, tensor: Any) -> None: ...
    def swap_begins(self, t1: Any, t2: Any) -> None: ...
    def swap_ended(self, t1: Any, t2: Any) -> None: ...
    def seeded(self, seed: Any) -> None: ...
    def evaluation_begins(self, context: Any) -> None: ...
    def evaluation_ends(self, context: Any) -> None: ...
    def evaluation_loss(self, value: Any) -> None: ...
    def compiled(self) -> None: ...


class WiringTaps:
    def __init__(self, listener: WiringListener) -> None:
        self._listener = listener
        self._wraps = Wraps(hide=uncompiled)

    def install(self, imports: AfterImport) -> None:
        import torch
        from torch import nn
        from torch.nn import functional
        from torch.nn.utils import clip_grad
        from torch.optim import Optimizer, lr_scheduler
        from torch.utils.data import DataLoader

        tell, wrap = self._listener, self._wraps.wrap
        wrap(nn.Module, "__init__", after(lambda self, *a, **k: tell.module_made(self)))
        wrap(nn.Module, "register_parameter", after(tell.parameter_registered))
        wrap(nn.Module, "zero_grad", before(lambda self, *a, **k: tell.gradients_zeroed(self)))
        wrap(nn.Module, "train", before(lambda self, mode=True: tell.mode_switched(self, mode)))
        wrap(nn.Module, "load_state_dict", after(lambda self, *a, **k: tell.state_loaded(self)))
        wrap(Optimizer, "zero_grad", before(lambda self, *a, **k: tell.gradients_zeroed(self)))
        wrap(DataLoader, "__init__", after(lambda self, *a, **k: tell.loader_made(self)))
        wrap(DataLoader, "__iter__", before(lambda self: tell.loader_started(self)))
        wrap(lr_scheduler.LRScheduler, "__init__", after(lambda self, *a, **k: tell.scheduler_made(self)))
        for scheduler in _all_classes(lr_scheduler.LRScheduler):
            if "step" in scheduler.__dict__:
                wrap(scheduler, "step", before(lambda self, *a, **k: tell.scheduler_steps(self)))
        for name in ("clip_grad_norm_", "clip_grad_value_"):
            wrap(clip_grad, name, _listing_parameters(tell.gradients_clipped))
            self._same(nn.utils, name, clip_grad)
        for name in dir(nn.init):
            if name.endswith("_") and not name.startswith("_"):
                wrap(nn.init, name, before(lambda tensor=None, *a, **k: tell.initialised(tensor)))
        wrap(torch.utils, "swap_tensors", before(tell.swap_begins))
        wrap(torch.utils, "swap_tensors", after(tell.swap_ended))
        wrap(torch.random, "manual_seed", before(lambda seed: tell.seeded(seed)))
        self._same(torch, "manual_seed", torch.random)
        for context in (torch.no_grad, torch.inference_mode):
            wrap(context, "__enter__", after(lambda self: tell.evaluation_begins(self)))
            wrap(context, "__exit__", before(lambda self, *a: tell.evaluation_ends(self)))
        for name in LOSSES:
            wrap(functional, name, _telling_evaluation_losses(tell.evaluation_loss))
        wrap(torch, "compile", before(lambda *a, **k: tell.compiled()))

    def _same(self, owner: Any, name: str, other: Any) -> None:
        """The same function under its second name."""
        self._wraps.patches.set(owner, name, getattr(other, name))

    def remove(self) -> None:
        self._wraps.remove()


def _all_classes(base: Any) -> list[Any]:
    return [base, *(found for below in base.__subclasses__() for found in _all_classes(below))]


def _listing_parameters(tell: Callable[[list[Any]], object]) -> Callable[[Any], Any]:
    """A generator can be walked once: the listener and the function both get the same list."""

    def wrapper(original: Any) -> Any:
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            if hasattr(parameters, "__next__"):
                parameters = list(parameters)
            tell([parameters] if hasattr(parameters, "grad") else parameters)
            return original(parameters, *args, **kwargs)

        return clip

    return wrapper


def _telling_evaluation_losses(tell: Callable[[Any], object]) -> Callable[[Any], Any]:
    def wrapper(original: Any) -> Any:
        import torch

        def loss(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if not torch.is_grad_enabled():
                tell(result)
            return result

        return loss

    return wrapper


def is_called_by(frame: Any, *parts: str) -> bool:
    """Does the first frame that is not ours belong to one of these files?"""
    ours = sys.modules["sleuth"].__path__[0]
    while frame is not None and frame.f_code.co_filename.startswith(ours):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.endswith(parts)
