"""Numbers are not computed while this lasts: weights and all that comes of them are hollow."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch.nn import parameter

from sleuth.dry.fake import hollow, saving
from sleuth.dry.fake.numbers import Numbers
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_Unseen = torch_private.get("torch._C.DisableTorchFunction")

# Elements of a batch of images or of a decoded file.
WHILE_LOADING = 1 << 24
_entered: WeakKeyDictionary[Stage, Numbers] = WeakKeyDictionary()


@contextlib.contextmanager
def fake_numbers(stage: Stage) -> Iterator[None]:
    """Entered beneath the mode that sees the program's calls."""
    _install_parameters(stage)
    saving.install(stage)
    # What a fake kernel refuses is no news: the real one has the last word.
    stage.patches.set(logging.getLogger("torch._subclasses.fake_tensor"), "disabled", True)
    numbers = _entered[stage] = Numbers(stage)
    with _memory_left_untouched(), numbers:
        yield


@contextlib.contextmanager
def data_loaded(stage: Stage) -> Iterator[None]:
    """Data keep their numbers up to a larger size while they are read."""
    numbers = _entered.get(stage)
    if numbers is None:
        yield
        return
    before, numbers.limit = numbers.limit, WHILE_LOADING
    try:
        yield
    finally:
        numbers.limit = before


@contextlib.contextmanager
def _memory_left_untouched() -> Iterator[None]:
    """With deterministic algorithms torch would fill all memory it is given."""
    settings: Any = torch.utils.deterministic
    before = settings.fill_uninitialized_memory
    settings.fill_uninitialized_memory = False
    try:
        yield
    finally:
        settings.fill_uninitialized_memory = before


def _install_parameters(stage: Stage) -> None:
    plain_new = torch.nn.Parameter.__new__
    lazy: Any = vars(parameter)["UninitializedTensorMixin"]
    plain_materialize = lazy.materialize

    def new(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        made = plain_new(cls, data, requires_grad)
        _without_numbers(made)
        return made

    def materialize(self: Any, *args: Any, **kwargs: Any) -> None:
        plain_materialize(self, *args, **kwargs)
        if isinstance(self, torch.nn.Parameter):
            _without_numbers(self)

    stage.patches.set(torch.nn.Parameter, "__new__", staticmethod(new))
    stage.patches.set(lazy, "materialize", materialize)


def _without_numbers(parameter: torch.Tensor) -> None:
    with _Unseen():
        hollow.forget_numbers(parameter)
