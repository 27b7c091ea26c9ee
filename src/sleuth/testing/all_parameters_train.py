"""Every weight that should be trained is: it gets a gradient that is not 0, and a step changes it."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from sleuth.layer_source import place_of_layer
from sleuth.testing import wording
from sleuth.testing.given import Loss, called, checked_batch, checked_loss, checked_model, copied_model, loss_of
from sleuth.testing.undisturbed import undisturbed

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sleuth.testing.gradient_flow import Pass

# A layer that starts at 0 gives the one before it no gradient in the first step; chance may leave out a branch in some.
_TRIES = 5
# Gradients this much smaller than the model's largest are rounding: the exact one is 0, as for a bias before BatchNorm.
_ROUNDING = 1e-6


@dataclass
class _Seen:
    """What became of one parameter over all tries."""

    name: str
    parameter: Any
    before: Tensor
    had_gradient: bool = False
    largest: float = 0.0


def assert_all_parameters_train(
    model: nn.Module, batch: Any, loss: Loss, optimizer: Any = None, except_: Collection[str] | str = ()
) -> None:
    """Every parameter that requires a gradient gets one that is not 0, and changes, within a few steps on the batch.

    `except_` names parameters, layers or patterns (`head.*`) that are unused on purpose. With an `optimizer` that holds
    the model's parameters, it must hold all of them. A copy is trained."""
    __tracebackhide__ = True
    checked_model(model), checked_batch(batch), checked_loss(loss)
    with undisturbed():
        failure = _failure(model, batch, loss, optimizer, _known(model, except_))
    if failure is not None:
        raise AssertionError(failure)


def _known(model: Any, except_: Collection[str] | str) -> list[str]:
    patterns = [except_] if isinstance(except_, str) else list(except_)
    names = [name for name, _ in model.named_parameters()]
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"except_ holds names of parameters or layers, not {type(pattern).__name__}")
        if not any(_matches(name, pattern) for name in names):
            layers = [name for name, _ in model.named_modules() if name]
            near = difflib.get_close_matches(pattern, [*names, *layers], 1)
            raise ValueError(
                f"except_: the model has no parameter or layer {pattern!r}"
                + (f"; did you mean {near[0]!r}?" if near else f"; it has {wording.listed(names)}")
            )
    return patterns


def _matches(name: str, pattern: str) -> bool:
    return name == pattern or name.startswith(f"{pattern}.") or fnmatchcase(name, pattern)


def _failure(model: Any, batch: Any, loss: Loss, optimizer: Any, except_: list[str]) -> str | None:
    import torch

    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"the optimizer must be a torch optimiser, not {type(optimizer).__name__}")
    copy, held = copied_model(model, optimizer)
    if not copy.training:
        copy.train()
    asked = [
        _Seen(name, parameter, parameter.detach().clone())
        for (name, parameter), original in zip(copy.named_parameters(), model.parameters(), strict=True)
        if original.requires_grad and not any(_matches(name, pattern) for pattern in except_)
    ]
    frozen = [name for name, parameter in model.named_parameters() if not parameter.requires_grad]
    if not asked and frozen:
        return wording.message(
            f"no parameter trains: all {len(frozen)} are frozen (requires_grad=False)",
            change=["call model.requires_grad_(True), or thaw the layers that should be trained"],
        )
    if held is None:
        trainable = [parameter for parameter in copy.parameters() if parameter.requires_grad]
        held = torch.optim.Adam(trainable, lr=1e-3) if trainable else None
    has_strays = _train(copy, held, batch, loss, asked)
    reasons = _Reasons(copy, batch, loss, held, asked)
    failed = {seen.name: reason for seen in asked if (reason := reasons.of(seen)) is not None}
    stray = reasons.unregistered() if has_strays else {}
    if not failed and not stray:
        return None
    return _message(model, failed, stray, frozen, reasons.advice)


def _train(copy: Any, optimizer: Any, batch: Any, loss: Loss, asked: list[_Seen]) -> bool:
    """A few steps. Answers whether the loss depends on parameters that the model does not know of."""
    from torch import nn

    from sleuth.live.graph import leaves_below

    inputs, targets = batch
    known = {id(parameter) for parameter in copy.parameters()}
    has_strays = False
    for _ in range(_TRIES):
        copy.zero_grad(set_to_none=True)
        value = loss_of(loss, called(copy, inputs), targets)
        if not value.requires_grad:
            break
        has_strays |= any(isinstance(leaf, nn.Parameter) and id(leaf) not in known for leaf in leaves_below(value))
        value.backward()
        for seen in asked:
            gradient = seen.parameter.grad
            if gradient is not None:
                seen.had_gradient = True
                dense = gradient.to_dense() if gradient.is_sparse else gradient
                seen.largest = max(seen.largest, float(dense.abs().max()) if dense.numel() else 0.0)
        if optimizer is not None and type(optimizer).__name__ != "LBFGS":
            optimizer.step()
    return has_strays


class _Reasons:
    """Why a parameter does not train. One more pass is looked at closely, but only once there is one that does not."""

    def __init__(self, copy: Any, batch: Any, loss: Loss, optimizer: Any, asked: list[_Seen]) -> None:
        self.advice: dict[str, None] = {}
        self._copy, self._batch, self._loss = copy, batch, loss
        self._groups = {id(p): group for group in getattr(optimizer, "param_groups", ()) for p in group["params"]}
        self._largest = max((seen.largest for seen in asked), default=0.0)
        self._pass: Pass | None = None

    def of(self, seen: _Seen) -> str | None:
        import torch

        if not seen.parameter.requires_grad:
            self._advise("freeze layers once, after building the model, not in train() or forward()")
            return "it was frozen while the model ran (requires_grad became False)"
        if not seen.had_gradient:
            return self._look().why_no_gradient(seen.parameter, self._advise)
        if seen.largest == 0:
            return self._look().why_zero(seen.parameter, self._advise)
        group = self._groups.get(id(seen.parameter))
        if group is None:
            self._advise("give the optimiser model.parameters(), after the last layer was added or replaced")
            return "it gets a gradient, but the optimizer does not hold it"
        if not torch.equal(seen.before, seen.parameter.detach()) or seen.largest < _ROUNDING * self._largest:
            return None
        rate = float(group.get("lr", 0.0))
        if rate == 0:
            self._advise("give its parameter group a learning rate")
            return "its learning rate is 0"
        self._advise("keep the weights in float32 (with autocast for speed), or raise the learning rate")
        kind = str(seen.parameter.dtype).removeprefix("torch.")
        return (
            f"its gradient is up to {seen.largest:.2g}, but {_TRIES} steps with a learning rate of {rate:g} "
            f"change nothing: the updates are lost in the rounding of {kind}"
        )

    def unregistered(self) -> dict[str, str]:
        """Weights that the loss depends on and that model.parameters() does not give."""
        known = {id(parameter) for parameter in self._copy.parameters()}
        return self._look().strays(known, self._groups, self._advise)

    def _look(self) -> Pass:
        if self._pass is None:
            from sleuth.testing.gradient_flow import Pass

            self._pass = Pass(self._copy, self._batch, self._loss)
        return self._pass

    def _advise(self, line: str) -> None:
        self.advice.setdefault(line)


def _message(
    model: Any, failed: dict[str, str], stray: dict[str, str], frozen: list[str], advice: Collection[str]
) -> str:
    names = [*failed, *stray]
    parameters = sum(1 for parameter in model.parameters() if parameter.requires_grad)
    lines = []
    for name, reason in failed.items():
        made = place_of_layer(model, name)
        lines.append(f"{name}: {reason}" + (f"; made at {made.path}:{made.line}" if made is not None else ""))
    lines += [f"{name}: {reason}" for name, reason in stray.items()]
    if frozen:
        lines.append(f"(frozen, and not asked about: {wording.listed(frozen)})")
    does = "does" if len(names) == 1 else "do"
    return wording.message(
        f"{len(names)} of {parameters + len(stray)} parameters {does} not train: {wording.listed(names)}",
        [wording.items(lines)],
        [*advice, "or say that it is so on purpose: except_=[...]"],
    )
