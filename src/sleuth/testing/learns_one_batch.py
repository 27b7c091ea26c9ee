"""The oracle every training stands on: a model that cannot learn one batch by heart will not learn a data set."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sleuth.testing import wording
from sleuth.testing.given import (
    Loss,
    called,
    checked_batch,
    checked_loss,
    checked_model,
    copied_model,
    loss_of,
)
from sleuth.testing.nonfinite_story import bad_gradients, is_bad, let_it_go_wrong, say_nothing
from sleuth.testing.undisturbed import undisturbed

if TYPE_CHECKING:
    from torch import Tensor, nn

    from sleuth.findings import Finding

# Where no optimiser is given, the question is about model and loss alone: one of Adam's usual rates must do.
_RATES = (3e-3, 3e-2, 3e-4)
# Noise of this much or less is switched off, since learning by heart is not what it is for; more is a cause by itself.
_USUAL_DROPOUT = 0.5
# Curves shorter than this are not judged by the rules.
_STEPS_TO_JUDGE = 120
# Seconds for experiments: a test that fails should do so soon.
_EXPERIMENTS = 5.0
# Still falling: this much lower than a quarter of the steps before.
_FALLING = 0.9
# True of any batch learnt by heart, so no reason why it is not.
_OF_ONE_BATCH = (
    "class-sorted-data",
    "labels-unrelated-to-inputs",
    "overfitting",
    "same-batch-every-step",
)


@dataclass
class _Training:
    """How it went: the loss before each step, and what ended it early."""

    losses: list[float] = field(default_factory=list)
    error: RuntimeError | None = None
    bad: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def assert_learns_one_batch(
    model: nn.Module, batch: Any, loss: Loss, optimizer: Any = None, steps: int = 200, to: float = 0.1
) -> None:
    """Trained on one batch, `(inputs, targets)`, the loss falls to the share `to` of where it began.

    `optimizer` is one that holds the model's parameters, or a function that makes one from a list of parameters;
    without it, Adam has to manage at one of three usual rates. Dropout of up to 0.5 is off meanwhile. A copy is
    trained."""
    __tracebackhide__ = True
    checked_model(model), checked_batch(batch), checked_loss(loss)
    if steps < 1:
        raise ValueError(f"steps must be 1 or more, not {steps}")
    if not 0 < to < 1:
        raise ValueError(f"to is a share of the first loss, between 0 and 1, not {to:g}")
    with undisturbed():
        failure = _failure(_Experiment(model, batch, loss, steps, to), optimizer)
    if failure is not None:
        raise AssertionError(failure)


class _Experiment:
    def __init__(self, model: nn.Module, batch: Any, loss: Loss, steps: int, to: float) -> None:
        from sleuth.live.snapshot import RandomStates

        self.model, self.loss, self.steps, self.to = model, loss, steps, to
        self.inputs, self.targets = batch
        self._states = RandomStates()
        self._random = self._states.take()

    def is_learnt(self, losses: list[float]) -> bool:
        return not is_bad(losses[-1]) and losses[-1] <= self.to * losses[0]

    def train(self, optimizer: Any, watched: bool = False) -> _Training:
        """From the same weights and random numbers every time."""
        from sleuth.live import Watch

        self._random.restore()
        if not watched:
            return self._train(optimizer, self.steps)
        training = _Training()
        watch = Watch(show=say_nothing, ignore=_OF_ONE_BATCH, experiments=_EXPERIMENTS)
        # A graph that is cut makes backward raise, which the watch must see to tell of it.
        with suppress(RuntimeError), watch:
            training = self._train(optimizer, max(self.steps, _STEPS_TO_JUDGE), watched=True)
        training.findings = watch.findings
        return training

    def _train(self, optimizer: Any, steps: int, watched: bool = False) -> _Training:
        model, held = _prepared(self.model, optimizer)
        training = _Training()

        def number() -> Tensor:
            return loss_of(self.loss, called(model, self.inputs), self.targets)

        for _ in range(steps + 1):
            before = self._states.take()
            held.zero_grad()
            value = number()
            training.losses.append(float(value.detach()))
            if self.is_learnt(training.losses) or len(training.losses) > steps:
                break
            try:
                if not is_bad(training.losses[-1]):
                    value.backward()
            except RuntimeError as error:
                if watched:
                    raise
                training.error = error
                break
            training.bad = bad_gradients(model)
            if training.bad or is_bad(training.losses[-1]):
                if watched:
                    before.restore()
                    let_it_go_wrong(held, number)
                break
            _step(held, number)
        return training


def _prepared(model: nn.Module, optimizer: Any) -> tuple[Any, Any]:
    """Copies of model and optimiser, the model in training mode and with its usual dropout off."""
    import torch

    if isinstance(optimizer, torch.optim.Optimizer):
        copy, held = copied_model(model, optimizer)
    else:
        copy, _ = copied_model(model)
        parameters = [parameter for parameter in copy.parameters() if parameter.requires_grad]
        if not parameters:
            raise ValueError("the model has no parameter that requires a gradient, so there is nothing to train")
        held = optimizer(parameters)
        if not isinstance(held, torch.optim.Optimizer):
            raise TypeError(f"the function given as optimizer made {type(held).__name__}, which is no torch optimiser")
    if not copy.training:
        copy.train()
    for part in copy.modules():
        for name in ("p", "dropout"):
            share = getattr(part, name, None)
            if isinstance(share, float) and share <= _USUAL_DROPOUT and _is_noise(part, name):
                setattr(part, name, 0.0)
    return copy, held


def _is_noise(part: Any, name: str) -> bool:
    from torch import nn

    if name == "p":
        return isinstance(part, nn.modules.dropout._DropoutNd)
    return isinstance(part, nn.RNNBase | nn.MultiheadAttention)


def _step(optimizer: Any, number: Callable[[], Tensor]) -> None:
    import torch

    def closure() -> float:
        optimizer.zero_grad()
        value = number()
        value.backward()
        return float(value.detach())

    if isinstance(optimizer, torch.optim.LBFGS):
        optimizer.step(closure)
    else:
        optimizer.step()


def _adam(rate: float) -> Callable[[Any], Any]:
    def made(parameters: Any) -> Any:
        import torch

        return torch.optim.Adam(parameters, lr=rate)

    return made


def _failure(experiment: _Experiment, optimizer: Any) -> str | None:
    """The message, where it does not learn."""
    import torch

    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer) and not callable(optimizer):
        raise TypeError(
            f"the optimizer must be a torch optimiser or a function that makes one, not {type(optimizer).__name__}"
        )
    makers = [optimizer] if optimizer is not None else [_adam(rate) for rate in _RATES]
    trained = []
    for maker in makers:
        training = experiment.train(maker)
        first = training.losses[0]
        if first <= 0 and not is_bad(first):
            raise ValueError(
                f"the loss starts at {first:g}, and no share of that can be asked for: give a loss that is above 0 "
                "while the model is wrong"
            )
        if experiment.is_learnt(training.losses):
            return None
        trained.append((training, maker))
        if training.error is not None:
            break
    best, maker = min(trained, key=lambda one: _reached(one[0]))
    best.findings = experiment.train(maker, watched=True).findings
    return _message(experiment, best, optimizer)


def _reached(training: _Training) -> float:
    return training.losses[-1] if not is_bad(training.losses[-1]) else float("inf")


def _message(experiment: _Experiment, training: _Training, optimizer: Any) -> str:
    why = [wording.curve(training.losses)]
    change: list[str] = []
    alarms = [finding for finding in training.findings if finding.severity != "note"]
    if not alarms and optimizer is not None:
        rate = next((r for r in _RATES if experiment.is_learnt(experiment.train(_adam(r)).losses)), None)
        if rate is not None:
            why.append(
                f"the optimiser is the cause: with Adam at lr={rate:g} in its place the same model learns the batch"
            )
            change.append(f"use torch.optim.Adam with lr={rate:g}, or other settings of the optimiser given")
            return wording.message(_verdict(experiment, training), why, change)
    contradictions = _contradictions(experiment.inputs, experiment.targets)
    if contradictions:
        pairs = wording.counted(contradictions, "pair")
        why.append(f"{pairs} of samples have the same input and different targets: no model can give both")
    if training.findings:
        why.append(wording.told(alarms or training.findings))
    elif not contradictions:
        why.append(_without_a_cause(training.losses))
        change = [
            "train for more steps or, if this is as good as it has to get, ask for less: to=0.5",
            "look whether inputs and targets belong together, and whether a model of this size and kind can give such "
            "targets at all",
        ]
    return wording.message(_verdict(experiment, training), why, change)


def _verdict(experiment: _Experiment, training: _Training) -> str:
    losses = training.losses
    if training.error is not None:
        return f"the model does not learn: backward gives it no gradients ({training.error})"
    steps = wording.counted(len(losses) - 1, "step")
    if is_bad(losses[-1]):
        return f"the model does not learn one batch: after {steps} the loss is {losses[-1]:g}"
    if training.bad:
        return (
            f"the model does not learn one batch: after {steps} the gradient of {wording.listed(training.bad)} "
            "is not finite"
        )
    share = losses[-1] / losses[0]
    return (
        f"the model does not learn one batch: in {steps} the loss went from {losses[0]:.4g} to {losses[-1]:.4g}, "
        f"{share:.0%} of its start (asked for: {experiment.to:.0%})"
    )


def _without_a_cause(losses: list[float]) -> str:
    """What can be said where no rule names the cause."""
    if losses[-1] < _FALLING * losses[len(losses) * 3 // 4]:
        return "the loss was still falling: nothing is wrong but the number of steps, as far as Sleuth can see"
    return "no rule of Sleuth names a cause: gradients flow, and no layer is dead"


def _contradictions(inputs: Any, targets: Any) -> int:
    import torch
    from torch import Tensor

    if not isinstance(inputs, Tensor) or not isinstance(targets, Tensor) or not inputs.dim() or not targets.dim():
        return 0
    count = len(inputs)
    if len(targets) != count or count > 256:
        return 0
    rows, wanted = inputs.reshape(count, -1), targets.reshape(count, -1)
    return sum(
        bool(torch.equal(rows[i], rows[j]) and not torch.equal(wanted[i], wanted[j]))
        for i in range(count)
        for j in range(i + 1, count)
    )
