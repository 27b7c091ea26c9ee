"""Feeds a rival's monitor from an unmodified program: what its user would write into the loop is done from outside.

A monitor is made for each outermost model just before its first forward pass with gradients. The loss of a step is that
of the last backward pass before it, or the last loss computed where nothing calls backward."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from adapters import Monitor
from torch import Tensor, nn, optim
from torch.nn import functional
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

LOSSES = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "triplet_margin_loss",
]
# So many backward passes without a step are a loop that never steps, not an accumulation of gradients.
NEVER_STEPS = 16
# Nobody watches every copy of a model that the program makes.
MODELS = 4


def numbers(optimizer: optim.Optimizer) -> set[int]:
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}


def value_of(loss: object) -> float | None:
    if not isinstance(loss, Tensor) or loss.numel() != 1 or loss.is_meta:
        return None
    return float(loss.detach().float())


class Watched:
    """A model and its monitor."""

    def __init__(self, model: nn.Module, monitor: Monitor) -> None:
        self.model = weakref.ref(model)
        self.monitor = monitor
        self.parameters = {id(parameter) for parameter in model.parameters()}
        self.names = [name for name, _ in model.named_modules() if name]


class Feed:
    def __init__(self, make: type[Monitor]) -> None:
        self.make = make
        self.watched: list[Watched] = []
        self.optimizers: list[weakref.ref[optim.Optimizer]] = []
        self.steps = 0
        self.depth = 0
        self.backwards = 0  # since the last step
        self.loss: float | None = None
        self.norms: dict[int, float] = {}
        self.evaluation: list[float] = []
        self.busy = False

    # What is seen

    def before_call(self, module: nn.Module) -> None:
        """The outermost call of a module."""
        if not torch.is_grad_enabled() or not (self.optimizers or self.backwards) or len(self.watched) >= MODELS:
            return
        if next(module.parameters(), None) is None:
            return
        if any(module is (model := watched.model()) or is_part(module, model) for watched in self.watched):
            return
        model = root_of(module)
        self.watched.append(Watched(model, self.make(model, self.optimizer_of(model))))

    def optimizer_of(self, model: nn.Module) -> optim.Optimizer | None:
        parameters = {id(parameter) for parameter in model.parameters()}
        living = [optimizer for ref in self.optimizers if (optimizer := ref()) is not None]
        matching = [optimizer for optimizer in living if parameters & numbers(optimizer)]
        return next(iter([*matching, *living]), None)

    def made(self, optimizer: optim.Optimizer) -> None:
        self.optimizers = [*(ref for ref in self.optimizers if ref() is not None), weakref.ref(optimizer)]
        for watched in self.of(optimizer):
            watched.monitor.add_optimizer(optimizer)

    def of(self, optimizer: optim.Optimizer) -> list[Watched]:
        """Those whose parameters the optimiser holds; all where it holds nobody's. Not for unwatched copies."""
        held = numbers(optimizer)
        holding = [watched for watched in self.watched if watched.parameters & held]
        return holding or (self.watched if len(self.watched) < MODELS else [])

    def backward(self, loss: object, call: Callable[[], None]) -> None:
        self.backwards += 1
        if self.backwards > NEVER_STEPS and not self.steps:
            self.round_ended(self.watched, None)
        self.loss = value_of(loss)
        for watched in self.watched:
            call = functools.partial(watched.monitor.backward, call)
        call()
        if not self.optimizers or not self.steps:
            self.measure(self.watched)

    def computed(self, loss: object) -> None:
        if (value := value_of(loss)) is None:
            return
        if torch.is_grad_enabled():
            self.loss = value
        else:
            self.evaluation.append(value)

    def measure(self, watched: list[Watched]) -> None:
        for one in watched:
            model = one.model()
            if model is None or not one.monitor.wants_gradient_norm:
                continue
            gradients = [parameter.grad for parameter in model.parameters() if parameter.grad is not None]
            self.norms[id(one)] = float(nn.utils.get_total_norm(gradients)) if gradients else 0.0

    def before_step(self, optimizer: optim.Optimizer) -> None:
        self.measure(self.of(optimizer))

    def after_step(self, optimizer: optim.Optimizer) -> None:
        self.steps += 1
        self.backwards = 0
        self.round_ended(self.of(optimizer), optimizer.param_groups[0].get("lr"))

    def round_ended(self, watched: list[Watched], rate: float | Tensor | None) -> None:
        for one in watched:
            if self.evaluation:
                one.monitor.evaluated(sum(self.evaluation) / len(self.evaluation))
            one.monitor.step(self.loss, None if rate is None else float(rate), self.norms.get(id(one)))
        self.evaluation = []

    # How it is seen

    @contextmanager
    def installed(self) -> Iterator[None]:
        call, make, backward = nn.Module.__call__, optim.Optimizer.__init__, torch.autograd.backward
        losses = {name: getattr(functional, name) for name in LOSSES}
        feed = self

        @functools.wraps(call)
        def calling(self: nn.Module, *arguments: Any, **options: Any) -> Any:
            if feed.depth == 0 and not feed.busy:
                with feed.undisturbed():
                    feed.before_call(self)
            feed.depth += 1
            try:
                return call(self, *arguments, **options)
            finally:
                feed.depth -= 1

        @functools.wraps(make)
        def making(self: optim.Optimizer, *arguments: Any, **options: Any) -> None:
            make(self, *arguments, **options)
            with feed.undisturbed():
                feed.made(self)

        @functools.wraps(backward)
        def going_back(tensors: Any, *arguments: Any, **options: Any) -> None:
            if feed.busy:
                backward(tensors, *arguments, **options)
                return
            loss = tensors if isinstance(tensors, Tensor) else next(iter(tensors), None)
            feed.backward(loss, functools.partial(backward, tensors, *arguments, **options))

        def computing(plain: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(plain)
            def compute(*arguments: Any, **options: Any) -> Any:
                loss = plain(*arguments, **options)
                if not feed.busy:
                    feed.computed(loss)
                return loss

            return compute

        def before(optimizer: optim.Optimizer, *_: Any) -> None:
            with feed.undisturbed():
                feed.before_step(optimizer)

        def after(optimizer: optim.Optimizer, *_: Any) -> None:
            with feed.undisturbed():
                feed.after_step(optimizer)

        nn.Module.__call__ = calling  # type: ignore[method-assign]
        optim.Optimizer.__init__ = making  # type: ignore[method-assign]
        torch.autograd.backward = going_back
        for name, plain in losses.items():
            setattr(functional, name, computing(plain))
        handles = [register_optimizer_step_pre_hook(before), register_optimizer_step_post_hook(after)]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
            for name, plain in losses.items():
                setattr(functional, name, plain)
            torch.autograd.backward = backward
            optim.Optimizer.__init__ = make  # type: ignore[method-assign]
            nn.Module.__call__ = call  # type: ignore[method-assign]

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """What the rival itself does in here is not the program's doing; nor may it draw on the program's dice."""
        busy, self.busy = self.busy, True
        state = torch.get_rng_state()
        try:
            yield
        finally:
            torch.set_rng_state(state)
            self.busy = busy


def is_part(module: nn.Module, model: nn.Module | None) -> bool:
    return model is not None and any(module is part for part in model.modules())


def root_of(module: nn.Module) -> nn.Module:
    """The outermost living model the module is a part of: a program may call its parts alone."""
    found = module
    for thing in gc.get_objects():
        # Not isinstance: some objects import a library when asked for their class.
        if issubclass(type(thing), nn.Module) and thing is not found and is_part(found, thing):
            found = thing
    return found
