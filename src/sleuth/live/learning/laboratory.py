"""Cheap experiments on a copy of the model, with batches kept from the looks: they decide between causes.

Possible where the differentiated number is a loss function of the model's output, which is most of supervised
training. Nothing of the program is touched: the model is copied, the random generators are put back."""

from __future__ import annotations

import copy
import inspect
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.live.learning.inspection import Inspection, back, tensors_in
from sleuth.live.learning.looks import Lookout
from sleuth.live.ranks import distributed
from sleuth.live.signals import Run, Trial
from sleuth.live.snapshot import RandomStates

_BATCHES = 14
_MOST_BYTES = 64 << 20
_MOST_PARAMETERS = 20_000_000
# A rate probe takes this many steps, learning by heart more.
PROBE_STEPS = 40
BY_HEART_STEPS = 150
# What schedulers leave in a parameter group.
_OF_SCHEDULERS = ("initial_lr", "max_lr", "min_lr", "max_momentum", "base_momentum")


@dataclass(eq=False)
class _Recipe:
    """One batch with what is needed to compute its loss again."""

    arguments: tuple[Any, ...]
    by_name: dict[str, Any]
    function: Any
    rest: tuple[Any, ...]
    named: dict[str, Any]
    input_shape: tuple[int, ...]
    value: float
    bytes: int
    output: int
    # What the program multiplies the function's value with, where it computes its mean by hand.
    factor: float

    def loss(self, model: nn.Module) -> Tensor:
        scores = list(tensors_in(model(*self.arguments, **self.by_name)))[self.output]
        if tuple(scores.shape) != self.input_shape:
            scores = scores.reshape(self.input_shape)
        result: Tensor = self.function(scores, *self.rest, **self.named) * self.factor
        return result


class Bench:
    """A Laboratory for one run."""

    def __init__(self, run: Run, seconds: float) -> None:
        self._run = run
        self._left = seconds
        self._recipes: list[_Recipe] = []
        self._model: Any = None
        self._first_state: dict[str, Tensor] | None = None
        self._training = True
        self._optimizer: Any = None
        self._trials: dict[Any, Any] = {}
        self._states = RandomStates()

    def offer(self, inspection: Inspection, lookout: Lookout) -> None:
        """A look at a step: keep its batch if its loss could be computed again."""
        if self._left <= 0 or len(self._recipes) >= _BATCHES or distributed():
            return
        roots = [loss for loss in lookout.losses.values() if loss.is_root]
        if len(roots) != 1 or roots[0].share_of_loss < 0.9 or roots[0].negated_at is not None:
            return
        for call, args, kwargs in lookout.recipes:
            if lookout.losses.get(call.number) is roots[0] and len(args) >= 2:
                self._keep(inspection, call, args, kwargs, roots[0])

    def _keep(self, inspection: Inspection, call: Any, args: Any, kwargs: Any, loss: Any) -> None:
        made = back(call.inputs[0]) if call.inputs else None
        for root in inspection.roots:
            if not root.grad_enabled or made is None:
                continue
            behind = [back(output) for output in root.outputs]
            if made not in behind:
                continue
            module = root.module()
            if module is None or (self._model is not None and module is not self._model):
                return
            if any(isinstance(a, Tensor) and a.requires_grad for a in root.given):
                return
            size = sum(a.numel() * a.element_size() for a in (*root.given, *args[1:]) if isinstance(a, Tensor))
            if size + sum(r.bytes for r in self._recipes) > _MOST_BYTES:
                return
            if self._model is None and not self._remember(module):
                return
            function = getattr(nn.functional, call.name)
            position = behind.index(made)
            self._recipes.append(
                _Recipe(
                    arguments=tuple(_copied(a) for a in root.arguments),
                    by_name={name: _copied(a) for name, a in root.named.items()},
                    function=function,
                    rest=tuple(_copied(a) for a in args[1:]),
                    named={name: _copied(a) for name, a in kwargs.items()},
                    input_shape=tuple(args[0].shape),
                    value=loss.value,
                    bytes=size,
                    output=position,
                    factor=loss.extra.get("factor", 1.0),
                )
            )
            return

    def _remember(self, module: nn.Module) -> bool:
        if sum(p.numel() for p in module.parameters()) > _MOST_PARAMETERS:
            return False
        self._model = module
        self._training = module.training
        self._first_state = {name: value.detach().clone() for name, value in module.state_dict().items()}
        return True

    def optimizer(self, optimizer: Any) -> None:
        """The run's own optimiser, as the pattern for those of the experiments."""
        group = optimizer.param_groups[0]
        self._optimizer = (type(optimizer), {key: value for key, value in group.items() if key != "params"})

    # Experiments

    def one_batch(self) -> Trial | None:
        found: Trial | None = self._once("one batch", self._by_heart)
        return found

    def _by_heart(self) -> Trial | None:
        if not self._recipes:
            return None
        recipe = self._recipes[-1]
        best: tuple[float, float] | None = None
        enough = 0.3 * abs(recipe.value)
        for rate in (1e-3, 1e-2):
            losses = self._train([recipe], BY_HEART_STEPS, lambda p, rate=rate: torch.optim.Adam(p, lr=rate), enough)
            if losses and math.isfinite(losses[-1]) and (best is None or losses[-1] < best[1]):
                best = (losses[0], losses[-1])
            if best is not None and best[1] < enough:
                break
        if best is None:
            return None
        return Trial(
            "one batch",
            *best,
            f"a copy of the model learns one batch by heart: its loss goes from {best[0]:.4g} to {best[1]:.4g}",
        )

    def rates(self, factors: Iterable[float]) -> dict[float, Trial] | None:
        found: dict[float, Trial] = {}
        for factor in factors:
            trial: Trial | None = self._once(("rate", factor), lambda factor=factor: self._probe_rate(factor))
            if trial is None:
                return None
            found[factor] = trial
        return found

    def _probe_rate(self, factor: float) -> Trial | None:
        if len(self._recipes) < 2 or self._optimizer is None:
            return None
        kind, pattern = self._optimizer
        rate = factor * (self._run.optimizers[0].highest_rate if self._run.optimizers else 0.0)
        settings = {key: value for key, value in pattern.items() if key not in _OF_SCHEDULERS} | {"lr": rate}
        losses = self._train(
            self._recipes,
            PROBE_STEPS,
            lambda parameters: kind([{"params": parameters, **settings}], **_needed(kind, settings)),
        )
        if not losses:
            return None
        window = max(1, min(len(self._recipes), len(losses) // 3))
        start = sum(losses[:window]) / window
        end = sum(losses[-window:]) / window
        says = f"lr = {rate:.3g}: the loss goes from {start:.4g} to {end:.4g}"
        return Trial(f"lr × {factor:g}", start, end, says)

    def unseen(self) -> Trial | None:
        found: Trial | None = self._once("unseen", self._carry_over)
        return found

    def _carry_over(self) -> Trial | None:
        if len(self._recipes) < 6:
            return None
        train, test = self._recipes[:-3], self._recipes[-3:]
        model = self._copy()
        if model is None:
            return None
        before = _mean_loss(model, test)
        best: list[float] = []
        chance = self._run.chance
        floor = min(before, chance) if chance is not None else before
        optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)
        # As long as it falls, it may still come below: a start far from the targets takes long to make good.
        while len(best) < 8 or (best[-1] > 0.9 * floor and best[-1] < 0.99 * best[-5]):
            if len(best) == 64 or self._loop(model, optimizer, train, len(train)) is None:
                return None
            best.append(min(*best[-1:], _mean_loss(model, test), math.inf))
        return Trial(
            "unseen",
            floor,
            best[-1],
            f"trained on some batches, its loss on others goes from {before:.4g} to {best[-1]:.4g}",
        )

    def cut_short(self) -> None:
        self._left = 0.0

    def _once(self, key: Any, experiment: Any) -> Any:
        if key not in self._trials:
            # A forward or backward pass of one rank alone may hold a collective call (DDP, FSDP, SyncBatchNorm, the
            # program's own), and would wait for the others for ever.
            allowed = self._left > 0 and not distributed()
            self._trials[key] = self._guarded(experiment) if allowed else None
        return self._trials[key]

    def _guarded(self, experiment: Any) -> Any:
        random, started = self._states.take(), time.process_time()
        try:
            with torch.enable_grad():
                return experiment()
        except Exception:
            # The copy could not do what the model does: then there is no experiment, and no harm.
            return None
        finally:
            random.restore()
            self._left -= time.process_time() - started

    def _copy(self) -> Any:
        if self._model is None or self._first_state is None:
            return None
        model = copy.deepcopy(self._model)
        model.load_state_dict(self._first_state)
        for part in model.modules():
            for hooks in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks"):
                getattr(part, hooks, {}).clear()
        model.train(self._training)
        model.zero_grad(set_to_none=True)
        return model

    def _train(self, recipes: list[_Recipe], steps: int, build: Any, enough: float = -math.inf) -> list[float] | None:
        model = self._copy()
        if model is None:
            return None
        return self._loop(model, build([p for p in model.parameters() if p.requires_grad]), recipes, steps, enough)

    def _loop(
        self, model: Any, optimizer: Any, recipes: list[_Recipe], steps: int, enough: float = -math.inf
    ) -> list[float] | None:
        losses: list[float] = []
        deadline = time.process_time() + max(self._left, 0.0)
        for step in range(steps):
            if time.process_time() > deadline or self._left <= 0:
                return None
            loss = recipes[step % len(recipes)].loss(model)
            losses.append(float(loss.detach()))
            if not math.isfinite(losses[-1]) or losses[-1] < enough:
                return losses
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return losses


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else value


def _mean_loss(model: Any, recipes: list[_Recipe]) -> float:
    with torch.no_grad():
        return sum(float(recipe.loss(model)) for recipe in recipes) / len(recipes)


def _needed(kind: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """An optimiser of the user's own may ask for settings that have no default."""
    needed = {}
    for name, parameter in list(inspect.signature(kind.__init__).parameters.items())[2:]:
        if parameter.default is inspect.Parameter.empty and name in settings:
            needed[name] = settings[name]
    return needed
