"""A module for each tool. Those with a Monitor are fed by `feed`, inside the program; the others run it themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from messages import Message
from torch import nn, optim


class Monitor:
    """What a user would write into the training loop for one model, after the rival's own documentation."""

    wants_gradient_norm = False

    def __init__(self, model: nn.Module, optimizer: optim.Optimizer | None) -> None:
        """Called just before the model's first forward pass in training."""

    def add_optimizer(self, optimizer: optim.Optimizer) -> None:
        """Another optimiser of the same model was made."""

    def backward(self, call: Callable[[], None]) -> None:
        """Runs the backward pass."""
        call()

    def step(self, loss: float | None, rate: float | None, gradient_norm: float | None) -> None:
        """Called after each step of the optimiser."""

    def evaluated(self, loss: float) -> None:
        """The mean loss of an evaluation between two steps."""

    def finish(self, complete: bool) -> Iterable[Message]:
        """Everything the rival has to say. The program crashed where it is not complete."""
        raise NotImplementedError
