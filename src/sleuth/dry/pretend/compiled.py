"""Compiled, scripted, traced and exported models: the rehearsal runs them as they were written."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from sleuth.dry.after_import import after_import

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def install(stage: Stage) -> None:
    stage.patches.set(torch, "compile", _compile)
    stage.patches.set(nn.Module, "compile", lambda module, *args, **kwargs: None)
    _jit(stage)
    after_import(stage, "torch.onnx", lambda module: _onnx(stage, module))


class Compiled(nn.Module):
    """What `torch.compile(module)` gives: a module around the module, whose name is in all names of the state."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self._orig_mod = module
        self.training = module.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training") or "_orig_mod" not in self.__dict__.get("_modules", {}):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)


def _compile(model: Any = None, **options: Any) -> Any:
    """Also as a decorator with arguments."""
    if model is None:
        return lambda function: _compile(function, **options)
    return Compiled(model) if isinstance(model, nn.Module) else model


def _jit(stage: Stage) -> None:
    """A scripted model runs in C++ alone, where no label follows its tensors."""

    def saved(model: Any, file: Any, *args: Any, **kwargs: Any) -> None:
        stage.journal.keep_off("write", str(file))

    def as_it_is(model: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(model, nn.Module) and not hasattr(model, "save"):
            object.__setattr__(model, "save", lambda file, *rest, **options: saved(model, file))
        return model

    def trace(model: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
        _call(model, example_inputs, kwargs.get("example_kwarg_inputs"))
        return as_it_is(model)

    jit = torch.jit
    for name in ("script", "freeze", "optimize_for_inference"):
        stage.patches.set(jit, name, as_it_is)
    stage.patches.set(jit, "trace", trace)
    plain: Callable[..., Any] = jit.save

    def save(model: Any, file: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(model, jit.ScriptModule | jit.ScriptFunction):
            plain(model, file, *args, **kwargs)
        else:
            saved(model, file)

    stage.patches.set(jit, "save", save)


def _onnx(stage: Stage, module: Any) -> None:
    def export(model: Any, args: Any = (), f: Any = None, *rest: Any, **kwargs: Any) -> None:
        _call(model, args, kwargs.get("kwargs"))
        if f is not None:
            stage.journal.keep_off("write", str(f))

    stage.patches.set(module, "export", export)


def _call(model: Any, given: Any, options: Any = None) -> None:
    """The one pass that tracing makes."""
    arguments = given if isinstance(given, tuple | list) else () if given is None else (given,)
    model(*arguments, **(options or {}))
