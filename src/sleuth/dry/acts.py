"""Hears what the program does with its models: forward, backward, step; and knows the layer that is at work."""

from __future__ import annotations

import contextlib
import inspect
import sys
import threading
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules import module as modules
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from sleuth.dry import births
from sleuth.dry.births import Argument, Birth, Call, users_line
from sleuth.dry.pretend.devices import CPU
from sleuth.dry.tensors import tensors_in
from sleuth.frameworks import torch_private
from sleuth.frameworks.torchscript import keep_builtins
from sleuth.program import is_users

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    count(stage)
    _hear_backward(stage)
    _hear_parameters(stage)
    _hear_functions(stage)
    _hear_numpy(stage)
    _hear_transforms(stage)
    _compare_no_devices(stage)
    _hear_questions(stage)
    _follow_threads(stage)


def count(stage: Stage) -> None:
    """Hear of forward passes and steps, by torch's own hooks alone."""
    layers = _Layers(stage)
    later = stage.patches.later
    later(modules.register_module_forward_pre_hook(layers.enter).remove)
    later(modules.register_module_forward_hook(layers.leave, always_call=True).remove)
    later(register_optimizer_step_pre_hook(lambda optimizer, *_: _about_to_step(stage, optimizer)).remove)
    later(register_optimizer_step_post_hook(lambda optimizer, *_: _stepped(stage, optimizer)).remove)


class _Layers:
    """The modules whose forward is under way, the outermost first."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.under_way: list[Any] = []
        self.names: dict[int, str] = {}

    def enter(self, module: Any, inputs: Any) -> None:
        if not self.under_way:
            self._root(module)
        self.under_way.append(module)
        self._name()

    def leave(self, module: Any, inputs: Any, output: Any) -> None:
        while self.under_way and self.under_way.pop() is not module:
            pass
        self._name()

    def _root(self, module: Any) -> None:
        stage = self.stage
        stage.first_forward = stage.first_forward or births.now()
        stage.acts["forward"] += 1
        stage.acts["evaluation"] += not torch.is_grad_enabled()
        if any(module is known for known in stage.models):
            return
        stage.models.append(module)
        for name, part in module.named_modules():
            self.names[id(part)] = name
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            birth = stage.mode.birth(tensor)
            birth.name = birth.name or name

    def _name(self) -> None:
        if not self.under_way:
            self.stage.layer = ""
            return
        module = self.under_way[-1]
        kind, name = type(module).__name__, self.names.get(id(module), "")
        self.stage.layer = f"{name} ({kind})" if name else kind


def _about_to_step(stage: Stage, optimizer: Any) -> None:
    if not any(optimizer is known for known in stage.optimizers):
        stage.optimizers.append(optimizer)


def _stepped(stage: Stage, optimizer: Any) -> None:
    stage.acts["step"] += 1
    stage.tell("stepped", optimizer)


def _hear_backward(stage: Stage) -> None:
    plain_backward, plain_grad = torch.autograd.backward, torch.autograd.grad
    plain_engine = torch_private.get("torch.autograd._engine_run_backward")

    def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
        if stage.in_backward:  # torch hands the call through the mode to itself
            plain_backward(tensors, *args, **kwargs)
            return
        roots = list(tensors_in(tensors))
        stage.tell("backward", roots)
        _around(stage, roots, lambda: plain_backward(tensors, *args, **kwargs))
        stage.acts["backward"] += 1
        stage.tell("backward_done", roots)

    def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if stage.in_backward:
            return plain_grad(outputs, inputs, *args, **kwargs)
        result = _around(stage, list(tensors_in(outputs)), lambda: plain_grad(outputs, inputs, *args, **kwargs))
        given = list(tensors_in(inputs))
        for one, gradient in zip(given, result, strict=False):
            if isinstance(gradient, torch.Tensor):
                birth = stage.mode.birth(one)
                stage.mode.settle(gradient, birth.device, "grad", (birth,))
        return result

    def engine(*args: Any, **kwargs: Any) -> Any:
        # A backward pass may run code of the user's: hooks, functions, checkpoints.
        with stage.mode:
            return plain_engine(*args, **kwargs)

    if plain_engine is not None:
        stage.patches.set(torch.autograd, "_engine_run_backward", engine)
    stage.patches.set(torch.autograd, "backward", backward)
    stage.patches.set(torch.autograd, "grad", grad)
    keep_builtins(stage.patches)


def _around(stage: Stage, roots: list[Any], act: Any) -> Any:
    """Run a backward pass; what it raises is told as an error of it."""
    before = stage.now_on
    stage.now_on = next((label for label in map(stage.mode.label, roots) if label is not None), before)
    stage.in_backward += 1
    try:
        return act()
    except Exception as error:
        if not hasattr(error, "__sleuth_call__"):
            arguments = tuple(Argument(str(i), stage.mode.birth(root)) for i, root in enumerate(roots))
            error.__sleuth_call__ = Call("backward", arguments, "", *users_line(sys._getframe(1)))  # type: ignore[attr-defined]
        raise
    finally:
        stage.in_backward -= 1
        stage.now_on = before


def _hear_parameters(stage: Stage) -> None:
    """A parameter is a new tensor around the old one's numbers, and torch tells no mode of it."""
    plain = nn.Parameter.__new__

    def new(cls: Any, data: Any = None, requires_grad: bool = True, *args: Any, **kwargs: Any) -> Any:
        made = plain(cls, data, requires_grad, *args, **kwargs)
        _settle_like(stage, made, "parameter", [data] if isinstance(data, torch.Tensor) else [])
        return made

    stage.patches.set(nn.Parameter, "__new__", staticmethod(new))


def _settle_like(stage: Stage, made: Any, operation: str, given: list[Any]) -> None:
    """A tensor that C++ made of others is where they are."""
    if not isinstance(made, torch.Tensor) or stage.births[made] is not None:
        return
    parents: tuple[Birth, ...] = tuple(stage.mode.birth(one) for one in given)
    label = next((birth.device for birth in parents if birth.device != CPU), CPU)
    stage.mode.settle(made, label, operation, parents)


def _hear_functions(stage: Stage) -> None:
    """What a user's own autograd.Function gives back has been through C++."""
    plain = inspect.getattr_static(
        torch.autograd.Function, "apply"
    )  # of Python's or of C's making, as torch is old or new

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        result = plain.__get__(None, cls)(*args, **kwargs)
        given = list(tensors_in(args))
        for made in tensors_in(result):
            _settle_like(stage, made, cls.__name__, given)
        return result

    stage.patches.set(torch.autograd.Function, "apply", classmethod(apply))


def _hear_numpy(stage: Stage) -> None:
    for name in ("from_numpy", "frombuffer"):
        plain = getattr(torch, name)

        def made(*args: Any, _plain: Any = plain, _name: str = name, **kwargs: Any) -> Any:
            result = _plain(*args, **kwargs)
            stage.mode.settle(result, CPU, _name)
            return result

        stage.patches.set(torch, name, made)


def _hear_transforms(stage: Stage) -> None:
    """vmap and its kin wrap and unwrap their tensors in C++."""
    for owner, name in [(torch, "vmap"), *((torch.func, name) for name in _TRANSFORMS)]:
        plain = getattr(owner, name)

        def transform(func: Any, *args: Any, _plain: Any = plain, **kwargs: Any) -> Any:
            transformed = _plain(func, *args, **kwargs)

            def call(*given: Any, **named: Any) -> Any:
                result = transformed(*given, **named)
                for made in tensors_in(result):
                    _settle_like(stage, made, getattr(func, "__name__", "vmap"), list(tensors_in((given, named))))
                return result

            return call

        stage.patches.set(owner, name, transform)


_TRANSFORMS = ("vmap", "grad", "grad_and_value", "jacrev", "jacfwd", "hessian")


def _compare_no_devices(stage: Stage) -> None:
    """A checkpoint compares what it saved with what it computes again, and only one of the two is seen by the mode."""
    checks = torch_private.get("torch.utils.checkpoint._allowed_determinism_checks_to_fns")
    before = dict(checks)
    checks["default"] = lambda tensor: {"shape": tensor.shape, "dtype": tensor.dtype}
    stage.patches.later(lambda: checks.update(before))


def _hear_questions(stage: Stage) -> None:
    """A program that asks for a card, or how many there are, means to run with another answer, too."""
    for name, act in (("is_available", "asked for a card"), ("device_count", "counted cards")):
        plain = getattr(torch.cuda, name)

        def asked(_plain: Any = plain, _act: str = act) -> Any:
            stage.acts[_act] += is_users(sys._getframe(1).f_code.co_filename)
            return _plain()

        stage.patches.set(torch.cuda, name, asked)


def _follow_threads(stage: Stage) -> None:
    """A mode is on in the thread that entered it; the program's other threads enter it, too."""
    plain = threading.Thread.run

    def run(thread: threading.Thread) -> None:
        with stage.mode if not stage.fake else contextlib.nullcontext():
            plain(thread)

    stage.patches.set(threading.Thread, "run", run)
