"""Training and evaluation mode: who switched it where, and in which mode layers really ran."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import Tensor

from sleuth.findings import Place
from sleuth.live.learning.inspection import Inspection, RootCall, ancestors
from sleuth.live.learning.looks import Lookout
from sleuth.live.learning.taps import LOSSES
from sleuth.live.signals import Run


class Modes:
    def __init__(self, run: Run) -> None:
        self._run = run
        # User-level no_grad blocks since the last switch to evaluation mode.
        self.evaluations = 0
        self.dealt_in_evaluation = False
        self._switch: tuple[Any, Place | None, int] | None = None
        self._ran_in_training_mode = False
        self._training_inputs: set[int] = set()

    def switched(self, module: Any, training: bool, place: Place | None) -> None:
        if training:
            before = self._switch[0]() if self._switch is not None else None
            if before is not None and before in set(module.modules()):
                self._switch = None
        elif any(True for _ in module.parameters()):
            self._switch = (weakref.ref(module), place, len(self._run.optimizers))
            self.evaluations = 0

    def trained(self, inspection: Inspection, lookout: Lookout, optimised: set[int]) -> None:
        """A training step was looked at: in which mode did its layers run?"""
        self._training_inputs = {memory for root in inspection.roots if root.grad_enabled for memory in _inputs(root)}
        modes = [training for _, training, grad, _ in lookout.modes if grad]
        if any(modes):
            self._ran_in_training_mode = True
        elif modes and self._switch is not None:
            self._note_stuck(optimised, {id(module) for module, _, grad, _ in lookout.modes if grad})
        self._note_training_mode(inspection, lookout, optimised)

    def _note_stuck(self, optimised: set[int], layers: set[int]) -> None:
        assert self._switch is not None
        reference, place, optimizers = self._switch
        module = reference()
        if module is None:
            return
        inside = {id(part) for part in module.modules()}
        mine = sum(id(p) in optimised for p in module.parameters())
        if layers & inside and mine * 2 > len(optimised):
            self._run.facts.note(
                "trained in evaluation mode",
                self._run.step,
                place,
                numbers={
                    "was_training": self._ran_in_training_mode,
                    "evaluated": self.evaluations > 0,
                    "same_optimizer": len(self._run.optimizers) == optimizers,
                },
            )

    def evaluated(self, inspection: Inspection, lookout: Lookout, optimised: set[int]) -> None:
        """A block without gradients was looked at."""
        self._note_training_mode(inspection, lookout, optimised)

    def _note_training_mode(self, inspection: Inspection, lookout: Lookout, optimised: set[int]) -> None:
        if not self._run.step:
            return
        for _, training, grad, call in lookout.modes:
            if not training or grad:
                continue
            root = _root_of(inspection, call.number)
            module = root.module() if root is not None else None
            if root is None or module is None or not module.training:
                continue
            if not any(id(p) in optimised for p in module.parameters()) or self._is_known_input(root):
                continue
            if self._passes(inspection, root) > 1:
                continue
            if self.dealt_in_evaluation or _is_measured(inspection, call):
                self._run.facts.note(
                    "evaluated in training mode", self._run.step, root.place, numbers={"layer": call.name}
                )
                return

    def _is_known_input(self, root: RootCall) -> bool:
        return bool(_inputs(root) & self._training_inputs)

    @staticmethod
    def _passes(inspection: Inspection, root: RootCall) -> int:
        """How often the same input went through: more than once is sampling on purpose."""
        mine = _inputs(root)
        return sum(bool(mine & _inputs(other)) for other in inspection.roots)


def _inputs(root: RootCall) -> set[int]:
    """Where the tensors that a model was called with lie in memory."""
    tensors = [a for a in root.given if isinstance(a, Tensor) and a.layout == torch.strided]
    return {int(tensor.untyped_storage().data_ptr()) for tensor in tensors}


def _root_of(inspection: Inspection, number: int) -> RootCall | None:
    return next((root for root in reversed(inspection.roots) if root.first_call <= number), None)


def _is_measured(inspection: Inspection, layer: Any) -> bool:
    """Is what this layer computed compared with something: by a loss function, or by equality with labels?"""
    for call in inspection.calls:
        measures = call.number > layer.number and (call.name in LOSSES or call.name == "eq")
        if measures and not call.grad_enabled and any(one is layer for one in ancestors(call)):
            return True
    return False
