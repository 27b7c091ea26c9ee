"""What the taps put in torch's place behaves like what was there."""

from __future__ import annotations

import functools
import inspect
from types import SimpleNamespace

import torch
from torch.nn import functional

import sleuth
from sleuth.live.wraps import Wraps, after


def _loss(prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return functional.mse_loss(prediction, target) + functional.cross_entropy(prediction, target)


def test_torchscript_compiles_a_loss_while_it_is_watched() -> None:
    with sleuth.watch():
        scripted = torch.jit.script(_loss)
        result = scripted(torch.ones(2, 3), torch.ones(2, 3))
    assert torch.equal(result, _loss(torch.ones(2, 3), torch.ones(2, 3)))


def test_signatures_are_the_same_while_it_is_watched() -> None:
    before = inspect.signature(torch.utils.data.DataLoader.__init__)
    with sleuth.watch():
        assert inspect.signature(torch.utils.data.DataLoader.__init__) == before
        assert functional.mse_loss.__name__ == "mse_loss"
    assert not hasattr(functional.mse_loss, "__prepare_scriptable__")


def test_what_has_no_name_can_be_wrapped() -> None:
    owner = SimpleNamespace(__name__="owner", hook=functools.partial(int, base=2))
    wraps = Wraps()
    wraps.wrap(owner, "hook", after(lambda *args: None))
    assert owner.hook("11") == 3
    wraps.remove()
    assert isinstance(owner.hook, functools.partial)
