"""Counts the memory and the floating-point operations of a rehearsal, call by call, below everything pretended."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode

from sleuth.dry.births import users_line
from sleuth.dry.memory import as_on_card, estimate, note
from sleuth.dry.memory.flops import Formula, formula
from sleuth.dry.memory.ledger import ACTIVATIONS, DATA, TEMPORARY, Ledger
from sleuth.dry.memory.owners import Owners
from sleuth.dry.memory.summary import Table
from sleuth.dry.watchers import Watcher
from sleuth.frameworks import torch_private

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage

_task: Callable[[], int] = torch_private.get("torch._C._current_graph_task_id")
_Unseen = torch_private.get("torch._C.DisableTorchFunction")

_CPU = "cpu"
# Where only shapes are computed; Keras asks so for those of its layers.
_NOWHERE = "meta"
_DEVICE = torch.ops.prim.device.default
# Its result is the very tensor it was given, which nobody has seen yet.
_FRESH = torch.ops.aten.lift_fresh.default


class Meter(TorchDispatchMode):
    """Sees every operator, also those of the backward pass, with its real or fake tensors."""

    # Those that are given functions, such as flex_attention, go through here as others do.
    supports_higher_order_operators = True

    def __init__(self, stage: Stage) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.stage = stage
        self.ledger = Ledger(lambda device: None if device == _CPU else estimate.room(stage.scenario.card_bytes))
        self.owners = Owners(self.ledger)
        # How many modules' forwards, and optimisers' steps, are under way.
        self.forwards = 0
        self.stepping = 0
        self.flops = 0
        self.training_flops = 0
        self._facts: dict[Any, tuple[bool, Formula | None]] = {}
        self._failed = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Nothing is compiled here, and torch's guard against it takes longer than the call."""
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is _DEVICE and hasattr(args[0], "fake_device"):
            return args[0].fake_device  # asked several times a call: not worth the way down to the fake tensors
        result = func(*args, **kwargs) if kwargs else func(*args)
        facts = self._facts.get(func)
        if facts is None:
            facts = self._facts[func] = (func is _FRESH or _makes_new(func), formula(func))
        makes_new, count = facts
        if (makes_new or count is not None) and self.stage.now_on != _NOWHERE:
            with _Unseen():
                self._book(count, makes_new, args, kwargs or {}, result)
        return result

    def _book(self, count: Any, makes_new: bool, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """A tensor that cannot be booked is left out of the books: the program goes on."""
        try:
            if count is not None:
                self._spend(count(*args, **kwargs, out_val=result))
            if makes_new:
                self._see(result, args)
        except Exception as error:
            if not self._failed:
                self._failed = True
                self.stage.journal.write("broken", what=f"memory: {type(error).__name__}: {error}")

    def _spend(self, flops: int) -> None:
        self.flops += flops
        if torch.is_grad_enabled() or _in_backward():
            self.training_flops += flops

    def _see(self, result: Any, args: tuple[Any, ...]) -> None:
        if isinstance(result, torch.Tensor):
            self._note(result, args)
        elif isinstance(result, list | tuple):
            for one in result:
                if isinstance(one, torch.Tensor):
                    self._note(one, args)

    def _note(self, tensor: torch.Tensor, args: tuple[Any, ...]) -> None:
        storage = _storage(tensor)
        if storage is not None and self.ledger.block(storage) is None:
            self.enter(tensor, storage, self._where(args), self._kind(args))

    def enter(self, tensor: torch.Tensor, storage: Any, device: str, kind: str) -> None:
        """Into the books with a storage that is not in them."""
        code, instruction = users_line(sys._getframe(2))
        dtype = str(tensor.dtype).removeprefix("torch.")
        account = self.ledger.account(device, code, instruction, self.stage.layer, kind, dtype)
        self.ledger.born(storage, storage.nbytes(), account)

    def _where(self, args: tuple[Any, ...]) -> str:
        """In a backward pass no call is under way that would know: there a result is where its makers are."""
        where = self.stage.now_on
        if _in_backward():
            # The last of them is one that the forward pass kept; a gradient may come from another card.
            for tensor in _tensors(args):
                storage = _storage(tensor)
                block = None if storage is None else self.ledger.block(storage)
                if block is not None and block.account.memory.name != _CPU:
                    where = block.account.memory.name
        return where

    def _kind(self, args: tuple[Any, ...]) -> str:
        if torch.is_grad_enabled() and (self.forwards or any(tensor.requires_grad for tensor in _tensors(args))):
            return ACTIVATIONS
        return TEMPORARY if self.forwards or self.stepping or _in_backward() else DATA


def _storage(tensor: torch.Tensor) -> Any:
    """What holds its numbers; a sparse tensor has nothing of its own."""
    try:
        return tensor.untyped_storage()
    except (NotImplementedError, RuntimeError):
        return None


class Moments(Watcher):
    """When it turns out what a tensor is, and when there is something to write down."""

    def __init__(self, stage: Stage, meter: Meter) -> None:
        super().__init__(stage)
        self.meter = meter
        self.table = Table(stage, meter)
        self.steps = 0
        self.flops_of_step = 0
        self._flops_before: dict[int, int] = {}
        self._full_told = False

    def entered(self, module: Any, args: tuple[Any, ...]) -> None:
        """A module's forward begins."""
        self.meter.forwards += 1
        with _Unseen():
            if self.meter.forwards == 1 and self.meter.owners.module(module):
                self.meter.owners.take_stock()
            self.table.entered(module, args)

    def left(self, module: Any, args: tuple[Any, ...], *rest: Any) -> None:
        """It is over. `rest` is what it was given by name and its output; where it raised, torch passes None alone."""
        kwargs, output = rest if len(rest) == 2 else ({}, None)
        self.table.left(module, args, kwargs, output)
        self.meter.forwards = max(0, self.meter.forwards - 1)
        if self.meter.ledger.full and not self._full_told:
            self._full_told = True
            self.write()

    def backward_done(self, roots: list[Any]) -> None:
        with _Unseen():
            self.meter.owners.gradients()

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.meter.stepping += 1
        with _Unseen():
            if self.meter.owners.parameters_of(optimizer):
                self.meter.owners.take_stock()
            self.meter.owners.gradients()

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.meter.stepping -= 1
        with _Unseen():
            self.meter.owners.state_of(optimizer)
        # With several optimisers a whole round lies between two steps of the same one.
        before = self._flops_before.get(id(optimizer), 0)
        self._flops_before[id(optimizer)] = self.meter.training_flops
        self.flops_of_step = max(self.flops_of_step, self.meter.training_flops - before)
        self.steps += 1
        if self.steps & (self.steps - 1) == 0:
            self.write()

    def write(self) -> None:
        """On disk before the program may be killed; what is written later takes its place."""
        self.stage.journal.write("memory", **self.told())

    def told(self) -> dict[str, Any]:
        return {
            "devices": {name: note.of_device(self.meter.ledger, name) for name in self.meter.ledger.memories},
            "parameters": self.meter.owners.count,
            "trainable": self.meter.owners.trainable,
            "flops": self.flops_of_step or self.meter.flops,
            "steps": self.steps,
            "batch": self.table.batch,
            "numbers": self.stage.scenario.numbers,
        }


@contextlib.contextmanager
def counted(stage: Stage) -> Iterator[Meter]:
    """Count for as long as this lasts; the journal gets the notes "memory" and "table", and what does not fit."""
    meter = Meter(stage)
    moments = Moments(stage, meter)
    stage.watchers.append(moments)
    as_on_card.install(stage)
    handles = [
        register_module_forward_pre_hook(moments.entered),
        register_module_forward_hook(moments.left, with_kwargs=True, always_call=True),
        register_optimizer_step_pre_hook(moments.before_step),
        register_optimizer_step_post_hook(moments.after_step),
    ]
    try:
        with meter:
            yield meter
    finally:
        for handle in handles:
            handle.remove()
        moments.write()
        moments.table.write()
        if stage.scenario.corner == "" and not stage.scenario.batch:
            for finding in estimate.findings(moments.told(), stage.scenario.card_bytes, moments.table.layers):
                stage.journal.finding(finding)


def _makes_new(operation: Any) -> bool:
    """Does any result of the operator have a storage of its own?"""
    schema = getattr(operation, "_schema", None)
    return schema is None or any(one.alias_info is None for one in schema.returns)


def _in_backward() -> bool:
    return _task() != -1


def _tensors(args: tuple[Any, ...]) -> Iterator[torch.Tensor]:
    for arg in args:
        if isinstance(arg, torch.Tensor):
            yield arg
        elif isinstance(arg, list | tuple):
            yield from (one for one in arg if isinstance(one, torch.Tensor))
