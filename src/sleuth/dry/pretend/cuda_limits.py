"""What runs only on a card, and where the rehearsal therefore ends."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.after_import import after_import
from sleuth.program import is_users

if TYPE_CHECKING:
    from sleuth.dry.stage import Stage


def cannot_go_on(what: str) -> Callable[..., Any]:
    """A function that ends the rehearsal: `what` runs only on a card."""

    def end(*args: Any, **kwargs: Any) -> Any:
        from sleuth.dry.stage import CannotGoOn

        raise CannotGoOn(f"cannot rehearse past here: {what}")

    return end


def install(stage: Stage) -> None:
    graphs = cannot_go_on("CUDA graphs replay kernels that only a real card has")
    for owner in (torch.cuda, torch.cuda.graphs):
        for name in ("CUDAGraph", "graph"):  # still classes: they stand in annotations
            stage.patches.set(owner, name, type(name, (), {"__init__": graphs, "__module__": "torch.cuda"}))
        for name in ("make_graphed_callables", "graph_pool_handle"):
            stage.patches.set(owner, name, graphs)
    handle = cannot_go_on("a handle of cuBLAS or cuSOLVER is of use only on a real card")
    for name in ("current_blas_handle", "current_solver_handle"):
        stage.patches.set(torch.cuda, name, handle)
    finder = _Kernels()
    sys.meta_path.append(finder)
    stage.patches.later(finder.remove)
    _extensions(stage)


def _extensions(stage: Stage) -> None:
    """Compiling an extension takes a CUDA compiler, and what it makes a card."""

    def patch(module: Any) -> None:
        for name in ("load", "load_inline"):
            stage.patches.set(module, name, cannot_go_on(f"cpp_extension.{name}() builds kernels for a real card"))

    after_import(stage, "torch.utils.cpp_extension", patch)
    after_import(stage, "triton", _end_at_launch(stage))


def _end_at_launch(stage: Stage) -> Callable[[Any], None]:
    def patch(module: Any) -> None:
        kind = getattr(getattr(getattr(module, "runtime", None), "jit", None), "JITFunction", None)
        if kind is not None:
            stage.patches.set(kind, "run", cannot_go_on("a Triton kernel runs only on a real card"))

    return patch


class _Kernels(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands in for Triton where it is not installed: the user's own code can write kernels, not run them."""

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Triton)]:
            del sys.modules[name]

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != "triton" or ("." not in name and not _asked_by_user()):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Triton(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Everything in it is made when asked for."""


class _Kernel:
    """A kernel as written down: `kernel[grid](...)` would run it."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", "kernel")

    def __getitem__(self, grid: Any) -> Any:
        return cannot_go_on(f"the Triton kernel {self.__name__}() runs only on a real card")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self[None]()


class _Triton(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _TRITON.get(name, _Anything())


class _Anything:
    """A name of Triton's language, which only its compiler understands."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self


def _decorator(*args: Any, **kwargs: Any) -> Any:
    """`@triton.jit`, also with arguments; `@triton.autotune(...)`."""
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return args[0] if isinstance(args[0], _Kernel) else _Kernel(args[0])
    return _decorator


_TRITON: dict[str, Any] = {
    "jit": _decorator,
    "autotune": _decorator,
    "heuristics": _decorator,
    "cdiv": lambda x, y: -(-x // y),
    "next_power_of_2": lambda n: 1 << max(0, int(n) - 1).bit_length(),
}


def _asked_by_user() -> bool:
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and is_users(frame.f_code.co_filename)
