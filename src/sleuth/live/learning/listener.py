"""Watches how a network learns: hears the taps, gathers signals, and asks the rules at a few moments of the run."""

from __future__ import annotations

import math
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.findings import Finding, Place
from sleuth.frameworks import torch_private
from sleuth.live import graph, sentinel
from sleuth.live.expectations import Expectations
from sleuth.live.harmless import harmless
from sleuth.live.judge import Judge
from sleuth.live.learning import graph_cut, wiring
from sleuth.live.learning.batches import BatchLedger
from sleuth.live.learning.evaluations import Evaluations
from sleuth.live.learning.holding import Held, Holding
from sleuth.live.learning.inspection import Inspection, ancestors
from sleuth.live.learning.keepers import Keepers
from sleuth.live.learning.laboratory import Bench
from sleuth.live.learning.ledger import STEPS, Ledger
from sleuth.live.learning.looks import Lookout
from sleuth.live.learning.making import Making
from sleuth.live.learning.modes import Modes
from sleuth.live.learning.names import Names
from sleuth.live.learning.probes import Probes
from sleuth.live.learning.schedules import Schedules
from sleuth.live.learning.taps import is_called_by
from sleuth.live.learning.values import values_of
from sleuth.live.loss_lines import LossLines
from sleuth.live.ranks.shards import any_part, local
from sleuth.live.signals import Crash, Run
from sleuth.program import place_of, users_frame, users_place

_Unseen = torch_private.get("torch._C.DisableTorchFunction")

# Close looks: often while the run is young, then now and then. Two on end, for programs with two optimisers.
_LOOKS = frozenset((0, 1, 2, 3, 8, 9, 16, 17, 24, 32, 33, 48, 64, 65, 96, 128, 129))
_EVERY = 256
_LOOKS_KEPT = 64
# Of a step that gathers the gradients of many backward passes, the first few are looked at.
_BACKWARDS_IN_LOOK = 4
# torch's own files: what they call in turn is not told twice.
_SCHEDULERS = os.path.join("torch", "optim", "lr_scheduler.py")
_ZEROING = (os.path.join("torch", "optim", "optimizer.py"), os.path.join("torch", "nn", "modules", "module.py"))


class Learning:
    """Hears the taps of `live.taps` (through `live.watch`) and of `learning.taps`."""

    def __init__(
        self,
        tell: Callable[[Finding], bool],
        failed: Callable[[Exception], None],
        put: Callable[[int, dict[str, float]], None],
        expectations: Expectations,
        seconds_for_experiments: float,
    ) -> None:
        """`put` takes the values of a step by name."""
        self.off = False
        self.tracing = False
        self.attentive = True
        self.clippings = 0
        self.compiles = False
        self.failed = failed
        self.run = Run()
        self.making = Making()
        self.ledger = Ledger()
        self.schedules = Schedules(self.run, self.making)
        self.batches = BatchLedger(self.run, self.making)
        self.keepers = Keepers(self.run)
        self.bench = Bench(self.run, seconds_for_experiments)
        self.run.laboratory = self.bench
        self.inspection = Inspection(self._saw, self._inspection_failed)
        self.names = Names(self.making, lambda: self.inspection.roots)
        self.name = self.names.of
        self.lookout = Lookout(self.making, self.name)
        self.modes = Modes(self.run)
        self.probes = Probes(
            expectations, put, lambda: self.names.models, self.making.place, lambda: self.run.backward_place
        )
        expectations.whereabouts = self.probes
        self.judge = Judge(self.run, tell, self._while_asking)
        self.holding = Holding(self.run, self.making)
        self._put = put
        self._evaluations = Evaluations(self.run, put)
        self._may_inspect = True
        self._evaluating: Any = None
        self._evaluation_looks: dict[Any, int] = {}
        self._no_grad_lines: list[tuple[int, Place | None]] = []
        self._scale = 1.0
        self._scaler: Any = None
        self._backwards_in_look = 0
        self._leaves: list[Tensor] = []
        self._cut: list[tuple[Tensor, Place | None, str]] = []
        self._first_sums: dict[int, float] = {}
        self._seeded: dict[Any, int] = {}
        self._looking = False
        self.muted: Callable[[], Any] = nullcontext
        self.loss_lines = LossLines()

    def untraced(self) -> Any:
        return nullcontext()

    def switch_off(self) -> None:
        self.off = True
        self.attentive = False
        self.inspection.stop()

    def suspend(self) -> None:
        """A step is being replayed: what it does is not the program's own doing."""
        if self._looking:
            self._looking = False
            self.inspection.stop()

    def _inspection_failed(self, error: Exception) -> None:
        self.switch_off()
        self.failed(error)

    # What is made

    @harmless
    def module_made(self, module: Any) -> None:
        line = self.making.note(module)
        if self.run.step and self.inspection.on and self.inspection.modules and line is not None:
            self.run.facts.note("layer made in forward", self.run.step, place_of(*line))

    @harmless
    def parameter_registered(self, module: Any, name: str, parameter: Any) -> None:
        if isinstance(parameter, Tensor):
            self.making.note(parameter)

    @harmless
    def optimizer_made(self, optimizer: Any) -> None:
        self.making.note_optimizer(optimizer)
        self.holding.of(optimizer)
        self.attentive = True
        self.look_at_the_first_step()

    @harmless
    def look_at_the_first_step(self) -> None:
        if self.run.step == 0 and not self._looking:
            self.start_looking()

    @harmless
    def scheduler_made(self, scheduler: Any) -> None:
        held = self.holding.get(id(getattr(scheduler, "optimizer", None)))
        place = self.schedules.made(scheduler)
        if held is not None and place is not None:
            held.signals.scheduler_made = place

    @harmless
    def scheduler_steps(self, scheduler: Any) -> None:
        if not is_called_by(sys._getframe(2), _SCHEDULERS) and self.schedules.listening:
            held = self.holding.get(id(getattr(scheduler, "optimizer", None)))
            self.schedules.stepped(scheduler, held.signals if held is not None else None, self.run.scaled)

    @harmless
    def loader_made(self, loader: Any) -> None:
        self.making.note_loader(loader)

    @harmless
    def loader_started(self, loader: Any) -> None:
        self.batches.started(loader)

    @harmless
    def compiled(self) -> None:
        self.compiles = True
        # A compiled function is guarded against modes like ours: it would be compiled again.
        self._may_inspect = False
        self.inspection.stop()
        self._looking = False

    @harmless
    def initialised(self, tensor: Any) -> None:
        self.making.initialised(tensor)
        if self.run.step and self.holding.has_stepped(tensor):
            self.run.facts.note("initialised again", self.run.step, _here(), who="any")
            fact = self.run.facts.note("weight initialised again", self.run.step, _here(), who=id(tensor))
            fact.numbers["held"] = self.holding.count()

    # Not `harmless`: a listener that is off holds weak references still, and the program must be rid of them.

    def swap_begins(self, t1: Any, t2: Any) -> None:
        self.inspection.let_go((t1, t2))
        self.making.let_go((t1, t2))

    def swap_ended(self, t1: Any, t2: Any) -> None:
        self.making.take_up()

    @harmless
    def state_loaded(self, module: Any) -> None:
        if not self.run.step or not self._first_sums:
            return
        mine = [p for p in module.parameters() if id(p) in self._first_sums]
        if mine and all(_sum(p) == self._first_sums[id(p)] for p in mine):
            self.holding.another_training = True
            # Another optimiser is another training: only one that goes on is robbed of what it learnt.
            self.run.facts.note("first weights loaded", self.run.step, _here(), who=len(self.run.optimizers))

    @harmless
    def seeded(self, seed: Any) -> None:
        place = _here()
        if self.run.step < 256 and isinstance(seed, int) and self._seeded.get((place, seed)) != self.run.step:
            self._seeded[place, seed] = self.run.step
            self.run.facts.note("seeded", self.run.step, place, who=seed)

    # Batches

    def fetching(self) -> None:
        """A loader is about to fetch a batch: what its data set does for each sample is not looked at."""
        if self._looking and self.inspection.on:
            self.inspection.step_aside()

    @harmless
    def dealt(self, iterator: Any, batch: Any, replayed: bool = False) -> None:
        self.inspection.come_back()
        if replayed:
            return
        if torch.is_grad_enabled():
            self.batches.dealt(iterator, batch, self.run.step)
        else:
            self.modes.dealt_in_evaluation = True

    @harmless
    def loader_ended(self, iterator: Any) -> None:
        self.inspection.come_back()
        if torch.is_grad_enabled():
            self.batches.ended(iterator)

    # Modes and evaluation

    @harmless
    def mode_switched(self, module: Any, training: bool) -> None:
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code.co_name in ("told", "guarded", "<lambda>"):
            frame = frame.f_back
        if frame is not None and frame.f_code.co_name == "train" and frame.f_code.co_filename.endswith("module.py"):
            return
        self.modes.switched(module, bool(training), _here())

    @harmless
    def evaluation_begins(self, context: Any) -> None:
        if not self.run.step and not self._looking:
            return
        line = _direct_line(sys._getframe(2))
        if line is None:
            return
        self.modes.evaluations += 1
        if self._looking:
            self._no_grad_lines.append((id(context), place_of(*line)))
            return
        if not self._may_inspect or self.inspection.on or self._evaluation_looks.get(line, 0) >= 2:
            return
        self._evaluation_looks[line] = self._evaluation_looks.get(line, 0) + 1
        self._evaluating = context
        self.modes.dealt_in_evaluation = False
        self.lookout.begin(self.run.step)
        self.inspection.start()

    @harmless
    def evaluation_ends(self, context: Any) -> None:
        if self._no_grad_lines and self._no_grad_lines[-1][0] == id(context):
            self._no_grad_lines.pop()
        if self._evaluating is context:
            self._evaluating = None
            self.inspection.stop()
            self.modes.evaluated(self.inspection, self.lookout, self.holding.parameters())
            self.inspection.forget()

    @harmless
    def evaluation_loss(self, value: Any) -> None:
        if (
            not self.run.step
            or not isinstance(value, Tensor)
            or value.numel() != 1
            or (self._evaluating is None and self._looking)
        ):
            return
        self._evaluations.add(value, _here)

    # Gradients

    @harmless
    def gradients_zeroed(self, owner: Any) -> None:
        if self.attentive and not is_called_by(sys._getframe(2), *_ZEROING):
            place = _here()
            if self.ledger.zeroed(place, _parameters(owner)) and self.ledger.open and not self.run.scaled:
                backward = self.run.backward_place
                self.run.facts.note(
                    "gradients erased unused",
                    self.run.step,
                    place,
                    numbers={"backwards": self.run.backwards},
                    backward=backward,
                )

    @harmless
    def gradients_clipped(self, parameters: list[Any]) -> None:
        self.clippings += 1
        if self.run.step > 256:
            return
        parameters = [p for p in parameters if isinstance(p, Tensor)]
        if not parameters:
            self.run.facts.note("clipped nothing", self.run.step, _here())
        elif self.ledger.open and self.ledger.used_already(parameters):
            self.run.facts.note("clipped after step", self.run.step, _here())
        elif self._scaler is not None and wiring.is_still_scaled(self._scaler(), parameters):
            self.run.facts.note("clipped while scaled", self.run.step, _here(), numbers={"scale": self._scale})

    @harmless
    def loss_scaled(self, scaler: Any) -> None:
        if scaler.is_enabled():
            self.run.scaled = True
            self._scaler = weakref.ref(scaler)
            if scaler._scale is None:
                self._scale = float(scaler._init_scale)
            elif scaler._scale.device.type == "cpu" or self._looking:
                self._scale = float(scaler._scale)

    @harmless
    def backward_begins(self, tensors: Any) -> None:
        self.run.backwards += 1
        self.run.backward_place = self.loss_lines.place(sys._getframe(2)) or self.run.backward_place
        self.ledger.backward_begins()
        root = tensors if isinstance(tensors, Tensor) else next((t for t in tensors if isinstance(t, Tensor)), None)
        if root is None:
            return
        self.keepers.differentiates(root)
        if self._looking and self.inspection.on:
            self._backwards_in_look += 1
            if self._backwards_in_look > _BACKWARDS_IN_LOOK:
                self.inspection.stop()
                return
            self._learn_loss_line(root, sys._getframe(2))
            self._leaves, size = graph.leaves_and_size(root)
            self.run.graph_sizes.append((self.run.step, size))
            with self.quietly():
                self._look_at_root(root)

    def _learn_loss_line(self, root: Tensor, frame: FrameType) -> None:
        callers = {caller for one in self.inspection.roots if one.grad_enabled for caller in one.callers}
        made = ((c.code, c.instruction) for c in ancestors(self.inspection.call_of(root)) if c.code is not None)
        self.loss_lines.learn(frame, callers, made)
        self.run.backward_place = self.loss_lines.place(frame) or self.run.backward_place

    def _look_at_root(self, root: Tensor) -> None:
        value = float(root.detach()) / (self._scale if self.run.scaled else 1.0) if root.numel() == 1 else math.nan
        self.lookout.differentiated(self.inspection, root, value)
        self.bench.offer(self.inspection, self.lookout)
        self.batches.targets(self.lookout)
        for loss in self.lookout.look.losses:
            if loss.is_root:
                for label, count in loss.labels.items():
                    self.run.labels[label] = self.run.labels.get(label, 0) + count
        self.names.learn()
        self.probes.looked(self.run.step)
        missing, call = graph_cut.cut_off(self.inspection, root, self._leaves, self.holding.parameters())
        if call is not None:
            place = call.notes.get("no_grad") or call.place
            how = "no_grad" if not call.grad_enabled else call.name
            self._cut += [(p, place, how) for p in missing]
            if not root.requires_grad:
                self.run.facts.note("cut off", self.run.step, place, who="crash", numbers={"how": how, "all": True})

    @harmless
    def backward_ended(self, tensors: Any) -> None:
        self.ledger.backward_ended()
        if not self.run.step and not self.compiles and self.run.backwards < 8 and self.holding.has_gradient():
            self.run.facts.note("gradient never used", 0)

    # Steps

    @harmless
    def measure(self, last: bool = False) -> None:
        """What expectations ask for, before each update and once after the last."""
        if last or self.probes.is_due():
            with self.quietly(), self.muted():
                self.probes.before_step(self.run.step, last)

    @harmless
    def evaluated_again(self, optimizer: Any) -> None:
        """An optimiser has its closure evaluate the loss more than once a step."""
        self.holding.of(optimizer).evaluates_often = True
        self.ledger.close(optimizer)

    @harmless
    def step_begins(self, optimizer: Any) -> None:
        """The gradients of the step are all there."""
        held = self.holding.of(optimizer)
        parameters = sentinel.parameters_of(optimizer)
        signals = held.signals
        signals.step_place = _here() or signals.step_place
        signals.rate = wiring.rate(optimizer)
        signals.highest_rate = max(signals.highest_rate, signals.rate)
        signals.rates_seen += 1
        if signals.steps < STEPS and not held.evaluates_often:
            what, other = self.ledger.step_begins(optimizer, parameters)
            self._note_gradients(held, what, other)
            self.run.facts.note("backward used by a step", self.run.step, self.run.backward_place)
            if not signals.steps:
                for p in parameters[:4]:
                    if id(p) not in self._first_sums and p.device.type == "cpu":
                        self._first_sums[id(p)] = _sum(p)
        if self._looking:
            self.bench.optimizer(optimizer)
            with self.quietly():
                held.ids = {id(p) for p in parameters}
                self._note_orphans(held, parameters)
                self._note_cut(held)
                self.lookout.before_step(parameters)
            # The optimiser's own arithmetic is not the program's.
            self.inspection.stop()

    def _note_gradients(self, held: Held, what: str, other: Any) -> None:
        facts, step, signals = self.run.facts, self.run.step, held.signals
        if what == "carried":
            facts.note("gradients carried over", step, self.run.backward_place, step_line=signals.step_place)
        elif what == "again":
            if other == id(held.optimizer()):
                facts.note("gradients used twice", step, signals.step_place)
            elif (first := self.holding.get(other)) is not None:
                made = first.signals.made
                facts.note("gradients used by two", step, signals.made, first=made, step_line=signals.step_place)
        elif what == "none":
            erased = self.ledger.erased_since_backward
            backward = self.run.backward_place
            above = (
                backward is not None
                and signals.step_place is not None
                and signals.step_place.path == backward.path
                and signals.step_place.line < backward.line
            )
            kind = "never" if not self.run.backwards else "erased" if erased is not None else "none"
            facts.note(
                "step without gradients",
                step,
                signals.step_place,
                who=held.number,
                numbers={"kind": kind, "above": above, "optimizer": held.number},
                erased=erased,
                backward=backward,
            )

    def _note_orphans(self, held: Held, parameters: list[Tensor]) -> None:
        leaves = {id(leaf): leaf for leaf in self._leaves if isinstance(leaf, nn.Parameter)}
        signals = held.signals
        signals.parameters = len(parameters)
        signals.frozen = sum(not p.requires_grad for p in parameters)
        signals.in_graph = max(signals.in_graph, sum(id(p) in leaves for p in parameters))
        signals.with_gradient = max(signals.with_gradient, sum(p.grad is not None for p in parameters))
        if any_part(parameters):
            # The graph knows the whole parameters, the optimiser its shards of them.
            signals.in_graph = max(signals.in_graph, signals.with_gradient)
            return
        optimised = self.holding.parameters()
        orphans: list[Tensor] = [leaf for key, leaf in leaves.items() if key not in optimised]
        if orphans:
            wiring.note_orphans(self, held, parameters, orphans, leaves)

    def _note_cut(self, held: Held) -> None:
        cuts: dict[tuple[Place | None, str], list[str]] = {}
        for parameter, place, how in self._cut:
            if id(parameter) in held.ids and parameter.grad is None:
                cuts.setdefault((place, how), []).append(self.name(parameter))
        for (place, how), names in cuts.items():
            unique = sorted(set(names))
            self.run.facts.note("cut off", self.run.step, place, who=how, numbers={"how": how, "names": unique})
        self._cut = []

    @harmless
    def step_ended(self, optimizer: Any) -> None:
        run = self.run
        held = self.holding.of(optimizer)
        signals = held.signals
        if self.attentive:
            self.holding.another_training = False
            self.ledger.steps_since_backward += 1
            if signals.steps < STEPS and not held.evaluates_often:
                self.ledger.step_ended(optimizer, sentinel.parameters_of(optimizer))
            elif signals.steps == STEPS:
                self.ledger.close(optimizer)
            if self._looking:
                self._end_look(held)
        signals.steps += 1
        run.step += 1
        step = run.step
        if is_due(step, len(self.holding)) or self.probes.wants_tensors(step):
            self.start_looking()
        self.attentive = self._looking or self.ledger.open or self.keepers.watching
        self.judge.stepped()

    @harmless
    def stepped_unheard(self) -> None:
        """An optimiser whose step was compiled has made one."""
        self.run.step += 1
        self.judge.stepped()

    def start_looking(self) -> None:
        """Look closely at the step that comes next."""
        if self._may_inspect and not self.off:
            self._looking = True
            self.lookout.begin(self.run.step)
            self._cut, self._leaves, self._no_grad_lines = [], [], []
            self._backwards_in_look = 0
            self.inspection.start()

    def _end_look(self, held: Held) -> None:
        with self.quietly():
            parameters = sentinel.parameters_of(held.optimizer())
            self.lookout.after_step(self.names.owners, parameters)
            self.modes.trained(self.inspection, self.lookout, self.holding.parameters())
            broadcasts = [c for c in self.inspection.calls if "broadcast" in c.notes]
            for call in broadcasts:
                self.run.facts.note("broadcast difference", self.run.step, call.place, numbers=call.notes)
        self.run.looks.append(self.lookout.look)
        self._put(self.run.step, values_of(self.lookout.look))
        if len(self.run.looks) > _LOOKS_KEPT:
            del self.run.looks[len(_LOOKS) :: 2]
        self._looking = False
        self.inspection.stop()
        self.inspection.forget()

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Our own arithmetic: not to be inspected, not to be differentiated."""
        before, self.inspection._paused = self.inspection._paused, True
        try:
            with _Unseen(), torch.no_grad():
                yield
        finally:
            self.inspection._paused = before

    @contextmanager
    def deaf(self) -> Iterator[None]:
        """While someone else runs models for reasons of their own: they are neither heard nor inspected."""
        before, self.inspection._paused = self.inspection._paused, True
        self.inspection.step_aside()
        try:
            with self.muted():
                yield
        finally:
            self.inspection.come_back()
            self.inspection._paused = before

    def _saw(self, call: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not call.grad_enabled and self._no_grad_lines:
            call.notes["no_grad"] = self._no_grad_lines[-1][1]
        self.lookout.saw(call, args, kwargs, result)
        self.probes.saw(result, lambda: call.place)

    # What the numbers say

    def heard(self, loss: float, gradient_norm: float) -> dict[str, float]:
        """A step's loss and gradient norm, from the sentinel. Answers with them as they are without a scaler."""
        values = {}
        scale = self._scale if self.run.scaled else 1.0
        if math.isfinite(loss):
            values["loss"] = loss / scale
            self.run.loss.add(self.run.step, values["loss"])
        if math.isfinite(gradient_norm):
            values["gradient norm"] = gradient_norm
            self.run.gradient.add(self.run.step, gradient_norm)
        return values

    @contextmanager
    def _while_asking(self) -> Iterator[None]:
        with self.quietly(), self.muted():
            self._evaluations.close()
            yield

    @harmless
    def finish(self, crash: Crash | None = None, stopped: bool = False) -> None:
        """The program has ended, well, with an error, or because a number went bad (which explains all else)."""
        self.inspection.stop()
        if crash is not None and self._looking:
            self.run.looks.append(self.lookout.look)
        self.judge.finish(crash, stopped)
        self.switch_off()


def _parameters(owner: Any) -> list[Tensor]:
    return sentinel.parameters_of(owner) if hasattr(owner, "param_groups") else list(owner.parameters())


def is_due(step: int, optimizers: int = 1) -> bool:
    """Is this step to be looked at? Every second of a pair only matters where optimisers take turns."""
    if step in _LOOKS:
        return step < 4 or step % 8 != 1 or optimizers > 1
    return step > 129 and (step % _EVERY == 0 or (step % _EVERY == 1 and optimizers > 1))


def _here() -> Place | None:
    return users_place(sys._getframe(1))


def _direct_line(frame: Any) -> tuple[Any, int] | None:
    """The user's line, if that is what calls; none where a library does for itself."""
    ours = sys.modules["sleuth"].__path__[0]
    while frame is not None and (
        frame.f_code.co_filename.startswith(ours) or frame.f_code.co_filename.endswith("_contextlib.py")
    ):
        frame = frame.f_back
    users = users_frame(frame)
    return (users.f_code, users.f_lasti) if users is not None and users is frame else None


def _sum(parameter: Tensor) -> float:
    return float(local(parameter).detach().double().sum())
