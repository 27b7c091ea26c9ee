"""Measures what expectations ask for and nothing else does: weights, named tensors, memory, a batch's accuracy."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.findings import Place
from sleuth.live.expectations.board import Expectations, Whereabouts
from sleuth.live.expectations.expectation import Expectation
from sleuth.live.learning.naming_tensors import stored_as
from sleuth.live.ranks.shards import local
from sleuth.live.snapshot import RandomStates
from sleuth.program import users_frame

# Unless the user says how often.
_WEIGHTS_EVERY, _BATCH_EVERY, _MEMORY_EVERY = 16, 10, 4
_SECONDS_BETWEEN_MEMORY = 0.5


class Probes(Whereabouts):
    """Asks the board what is wanted at a step, measures it, and puts it out as values."""

    def __init__(
        self,
        expectations: Expectations,
        put: Callable[[int, dict[str, float]], None],
        models: Callable[[], Iterable[nn.Module]],
        made: Callable[[Any], Place | None],
        stepped: Callable[[], Place | None],
    ) -> None:
        self._expectations = expectations
        self._put = put
        self._models = models
        self._made = made
        self._stepped = stepped
        self._memory_due = 0.0
        self._tensors: dict[str, list[float]] = {}
        self._tensor_places: dict[str, Place | None] = {}

    # Where things are

    def made(self, name: str) -> Place | None:
        if name in self._tensor_places:
            return self._tensor_places[name]
        for model in self._models():
            for prefix, part in model.named_modules():
                own = {f"{prefix}.{key}" if prefix else key for key in part._parameters}
                if name == prefix or name in own:
                    return self._made(part)
        return None

    def stepped(self) -> Place | None:
        return self._stepped()

    # Measuring

    def is_due(self) -> bool:
        """Is there anything to measure? Asked at every step."""
        return self._expectations.any or time.monotonic() >= self._memory_due

    def before_step(self, step: int, last: bool = False) -> None:
        """The gradients of a step are there, its update is not. `last`: there will be no more."""
        self._memory(step)
        self._weights(step, last)
        for expectation in self._expectations.asked_for("accuracy on this batch"):
            if last or expectation.is_due(step, _BATCH_EVERY):
                self._put(step, _accuracy(expectation))

    def _memory(self, step: int) -> None:
        asked = any(one.is_due(step, _MEMORY_EVERY) for one in self._expectations.asked_for("memory bytes"))
        now = time.monotonic()
        if asked or now >= self._memory_due:
            self._memory_due = now + _SECONDS_BETWEEN_MEMORY
            used = _memory_in_use()
            if used is not None:
                self._put(step, {"memory bytes": used})

    def _weights(self, step: int, last: bool) -> None:
        asked = self._expectations.asked_for("weight checksum")
        if asked and (last or any(one.is_due(step, _WEIGHTS_EVERY) for one in asked)):
            found = {
                f"weight checksum/{name}": _checksum(parameter)
                for model in self._models()
                for name, parameter in model.named_parameters()
            }
            self._put(step, found)

    # Named tensors

    def wants_tensors(self, step: int) -> bool:
        """Is this a step to be looked at closely for a tensor's sake? (Close looks happen now and then anyhow.)"""
        return any(one.every is not None and one.is_due(step) for one in self._expectations.asked_for("tensor"))

    def saw(self, result: Any, place: Callable[[], Place | None]) -> None:
        """A function of torch gave this to the program."""
        wanted = self._wanted_tensors()
        if wanted and isinstance(result, Tensor):
            name = stored_as(sys._getframe(2))
            if name is not None and name in wanted:
                self._note(name, result, place)

    def _wanted_tensors(self) -> set[str]:
        return {str(one.claim.subject.layer) for one in self._expectations.asked_for("tensor")}

    def _note(self, name: str, tensor: Tensor, place: Callable[[], Place | None]) -> None:
        values = tensor.detach()
        if not values.numel() or values.is_complex():
            return
        low, high = (float(v) for v in torch.aminmax(values))
        held = self._tensors.setdefault(name, [low, high])
        if low <= held[0] or high >= held[1]:
            self._tensor_places[name] = place()
        held[0], held[1] = min(held[0], low), max(held[1], high)

    def looked(self, step: int) -> None:
        """The forward pass of a looked-at step is over. What still has a name is found there, however it was stored."""
        frame = users_frame(sys._getframe(1))
        wanted = self._wanted_tensors()
        while wanted and frame is not None:
            for name in wanted.difference(self._tensors):
                held = frame.f_locals.get(name)
                if isinstance(held, Tensor):
                    self._note(name, held, lambda: None)
            frame = users_frame(frame.f_back)
        found, self._tensors = self._tensors, {}
        for name, (low, high) in found.items():
            self._put(step, {f"tensor low/{name}": low, f"tensor high/{name}": high})


def _checksum(parameter: Tensor) -> float:
    """The sum of the weights' bits as whole numbers: no update leaves it as it was, save by a freak of chance."""
    whole = local(parameter).detach().contiguous().flatten().view(torch.uint8)
    whole = whole.view(torch.int32) if whole.numel() % 4 == 0 else whole
    return float(whole.sum(dtype=torch.int64) % 2**53)


def _memory_in_use() -> float | None:
    """Of the accelerator where one is in use, else of this process; None where the system does not tell."""
    if torch.cuda.is_initialized():
        return float(torch.cuda.memory_allocated())
    try:
        with open("/proc/self/statm", "rb") as file:
            return float(int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
    except OSError:
        return None


def _accuracy(expectation: Expectation) -> dict[str, float]:
    inputs, labels = expectation.batch
    with _in_evaluation(expectation.model), torch.no_grad():
        outputs = expectation.model(inputs) if isinstance(inputs, Tensor) else expectation.model(*inputs)
    labels = labels.flatten()
    if outputs.numel() == labels.numel():
        inside = bool((outputs >= 0).all()) and bool((outputs <= 1).all())
        given = (outputs.flatten() > (0.5 if inside else 0.0)).to(labels.dtype)
    else:
        given = outputs.argmax(dim=1 if outputs.dim() > 1 else 0).flatten()
    most = labels.unique(return_counts=True)[1].max()
    return {
        "accuracy on this batch": float((given == labels).double().mean()),
        "accuracy on this batch by chance": float(most) / labels.numel(),
        "samples for accuracy": float(labels.numel()),
    }


@contextmanager
def _in_evaluation(model: nn.Module) -> Iterator[None]:
    """For a measurement of ours: dropout off, statistics kept, generators where they were."""
    training = [(module, module.training) for module in model.modules()]
    random = RandomStates().take()
    for module, _ in training:
        module.training = False
    try:
        yield
    finally:
        for module, mode in training:
            module.training = mode
        random.restore()
