"""The private names of torch that Sleuth uses, in one place: what each is for, and what is off where it is missing.

torch promises nothing about a name that begins with an underscore. Whoever needs one asks `get` for it, and gets what
stands for it in a torch that has it no more. `remarks` says what that switches off, and whether this torch is known."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# The oldest release whose public hooks are all there, and the newest that `make test-versions` has passed on.
OLDEST = (2, 6)
NEWEST_TESTED = (2, 15)


@dataclass(frozen=True, slots=True)
class Need:
    """A private name, the command it serves, what does not work without it, and how to make what stands for it."""

    name: str
    command: str
    off: str
    otherwise: Callable[[], Any] = lambda: None


def get(name: str) -> Any:
    """What torch has under this name, which must be one of `NEEDS`; else what stands for it."""
    found = _look_up(name)
    return _known()[name].otherwise() if found is _MISSING else found


def has(name: str) -> bool:
    return _look_up(name) is not _MISSING


def too_old() -> str | None:
    """Why this torch cannot be worked with, if so."""
    version = _version()
    if version >= OLDEST:
        return None
    return f"torch {_shown(version)} is too old: Sleuth needs {_shown(OLDEST)} or newer"


def remarks(command: str) -> list[str]:
    """What the user of this command should know about this torch, a sentence each; nothing where all is well."""
    version = _version()
    said = []
    if version > NEWEST_TESTED:
        said.append(f"torch {_shown(version)} is newer than {_shown(NEWEST_TESTED)}, the newest Sleuth was tested with")
    off: dict[str, str] = {}
    for need in NEEDS:
        if command in need.command.split() and not has(need.name):
            off.setdefault(need.off, need.name)
    return said + [f"this torch has no {name}: {what}" for what, name in off.items()]


def _version() -> tuple[int, int]:
    import torch

    major, minor = str(torch.__version__).split(".")[:2]
    return int(major), int(minor)


def _shown(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))


_MISSING = object()


def _look_up(name: str) -> Any:
    """Part after part: an attribute, or a module that is not imported yet or not kept by its package."""
    if name not in _known():
        raise LookupError(f"{name} is not among the private names that Sleuth says it needs")
    first, *rest = name.split(".")
    found: Any = importlib.import_module(first)
    path = first
    for part in rest:
        path += f".{part}"
        if hasattr(found, part):
            found = getattr(found, part)
            continue
        try:
            found = importlib.import_module(path)
        except ImportError:
            return _MISSING
    return found


@functools.cache
def _known() -> dict[str, Need]:
    return {need.name: need for need in NEEDS}


class _NeverRaised(Exception):
    """Stands for an error that this torch does not know."""


class _NeverMade:
    """Stands for a class that this torch does not have: nothing is an instance, and making one says so."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("this torch has no such thing")


def _copy_each(into: Any, values: Any) -> None:
    for one, value in zip(into, values, strict=True):
        one.copy_(value)


def _not_all_at_once(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError


_LOADER = "torch.utils.data.dataloader._BaseDataLoaderIter"
_FAKE = "torch._subclasses.fake_tensor"
_DEALS = "what a DataLoader deals is not seen: no sample is named, and no batch is dealt again"
_IN_BACKWARD = "a number born in a backward pass is not told with its forward line"
_LEFT_OVER = "a close look at one step may slow down those after it"
_OWN_WORK = "Sleuth may take its own arithmetic for the program's"
_COMPILED = "torch.compile may compile Sleuth's listeners with the program"
_ONE_BY_ONE = "a step of many small weights takes longer to watch"
_FAKE_NUMBERS = "rehearsals with fake numbers are off"
_ON_A_CARD = "the memory that a card would need is told less exactly"
_TRANSFORMS = "vmap and its kin are not followed"
_PACKED = "packed sequences are not followed"
_SPREAD = "tensors that are spread over processes are not followed"
_SCRIPTED = "TorchScript functions that call torch.autograd cannot be compiled"
_DEFAULT_DEVICE = "a default device is not heeded"


def _constant(value: Any) -> Callable[[], Any]:
    """Makes a function that takes anything and gives this."""
    return lambda: lambda *args: value


NEEDS = (
    Need("torch.jit._builtins._get_builtin_table", "run dry", _SCRIPTED, _constant(None)),
    Need("torch._C.DisableTorchFunction", "run dry", _OWN_WORK, lambda: contextlib.nullcontext),
    Need(_LOADER, "run", _DEALS),
    Need(f"{_LOADER}.__next__", "run", _DEALS),
    Need(f"{_LOADER}._next_index", "run", _DEALS),
    Need(f"{_LOADER}._reset", "run", _DEALS),
    Need("torch._C._autograd._get_sequence_nr", "run", _IN_BACKWARD, _constant(0)),
    Need("torch._C._current_autograd_node", "run", _IN_BACKWARD, _constant(None)),
    Need("torch._C._pop_torch_function_stack", "run", _LEFT_OVER),
    Need("torch._C._push_on_torch_function_stack", "run", _LEFT_OVER),
    Need("torch._C._len_torch_function_stack", "run", _LEFT_OVER, _constant(0)),
    Need("torch.overrides._get_current_function_mode_stack", "run", _LEFT_OVER, _constant(())),
    Need("torch.utils._python_dispatch._get_current_dispatch_mode_stack", "run", _LEFT_OVER, _constant(())),
    Need("torch._foreach_norm", "run", _ONE_BY_ONE, lambda: _not_all_at_once),
    Need("torch._foreach_copy_", "run", _ONE_BY_ONE, lambda: _copy_each),
    Need("torch._C._dynamo.eval_frame", "run", _COMPILED),
    Need("torch._C._dynamo.eval_frame.set_eval_frame", "run", _COMPILED, _constant(None)),
    Need("torch._dynamo", "dry", "a program that uses torch.compile may not get through its rehearsal"),
    Need("torch.autograd._engine_run_backward", "dry", "hooks that a backward pass calls are not followed"),
    Need("torch.utils.checkpoint._allowed_determinism_checks_to_fns", "dry", "checkpoints compare devices", dict),
    Need("torch._C._functorch.is_functorch_wrapped_tensor", "dry", _TRANSFORMS, _constant(False)),
    Need("torch._C._functorch.get_unwrapped", "dry", _TRANSFORMS),
    Need("torch.utils._python_dispatch.is_traceable_wrapper_subclass", "dry", _SPREAD, _constant(False)),
    Need("torch.distributed._register_comm_hook", "dry", _SPREAD, _constant(None)),
    Need("torch.utils._device", "dry", _DEFAULT_DEVICE),
    Need("torch.utils._device._device_constructors", "dry", _DEFAULT_DEVICE, _constant(())),
    Need("torch._C._nn._parse_to", "dry", "`model.to(0)` is not understood"),
    Need("torch._utils._rebuild_tensor", "dry", "where the tensors of a checkpoint were is not known"),
    Need("torch.utils.data._utils.fetch._MapDatasetFetcher", "dry", "the last batch of a DataLoader is not tried"),
    Need("torch._has_compatible_shallow_copy_type", "dry", "a model that is moved gets new parameters"),
    Need("torch._C._VariableFunctions._pack_padded_sequence", "dry", _PACKED),
    Need("torch._C._VariableFunctions._pad_packed_sequence", "dry", _PACKED),
    Need("torch._C._DisableTorchDispatch", "dry", _FAKE_NUMBERS, lambda: contextlib.nullcontext),
    Need("torch._C._dispatch_has_kernel_for_dispatch_key", "dry", _FAKE_NUMBERS, _constant(False)),
    Need(f"{_FAKE}.FakeTensor", "dry", _FAKE_NUMBERS, lambda: _NeverMade),
    Need(f"{_FAKE}.FakeTensorMode", "dry", _FAKE_NUMBERS, lambda: _NeverMade),
    Need(f"{_FAKE}.DataDependentOutputException", "dry", _FAKE_NUMBERS, lambda: _NeverRaised),
    Need(f"{_FAKE}.DynamicOutputShapeException", "dry", _FAKE_NUMBERS, lambda: _NeverRaised),
    Need(f"{_FAKE}.UnsupportedFakeTensorException", "dry", _FAKE_NUMBERS, lambda: _NeverRaised),
    Need(f"{_FAKE}.UnsupportedOperatorException", "dry", _FAKE_NUMBERS, lambda: _NeverRaised),
    Need("torch._C._current_graph_task_id", "dry", _ON_A_CARD, _constant(-1)),
    Need("torch._C._group_tensors_by_device_and_dtype", "dry", _ON_A_CARD),
    Need("torch._VF.dropout", "dry", _ON_A_CARD),
    Need("torch.optim.optimizer._foreach_supported_types", "dry", _ON_A_CARD, list),
)
