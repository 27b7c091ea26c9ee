"""Where a result that should be the same gets its chance from: other generators, the clock, or state that is kept."""

from __future__ import annotations

import functools
import importlib
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sleuth.findings import Place
from sleuth.live.snapshot import _is_generator, _state
from sleuth.program import is_users, place_of
from sleuth.testing.wording import at, listed

# Functions that give something else every time, whatever was seeded.
_NEVER_THE_SAME = {
    "os": ("urandom", "getrandom"),
    "secrets": ("token_bytes", "token_hex", "randbits", "randbelow", "choice"),
    "time": ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time"),
    "uuid": ("uuid1", "uuid4"),
    "torch": ("seed",),
    "numpy.random": ("default_rng",),
}


@dataclass(frozen=True)
class Cause:
    says: str
    change: str


def causes(subject: Any) -> list[Cause]:
    """What was seen in a few more runs of a subject whose results differ."""
    found = [*_other_generators(subject), *_never_the_same(subject)]
    return found or [*_state_that_stays(subject), *_unordered(subject.copy())]


def _other_generators(subject: Any) -> Iterator[Cause]:
    """Random numbers from a generator that the seed does not reach."""
    copy = subject.copy()
    own = _generators(copy)
    before = [repr(_state(generator)) for _, generator in own]
    python, numpy = random.getstate(), _numpy_state()
    subject.run(copy)
    globals_ = [
        name
        for name, moved in (("random", random.getstate() != python), ("numpy.random", _numpy_state() != numpy))
        if moved
    ]
    if globals_ and not subject.seed_all:
        yield Cause(
            f"random numbers come from {listed(globals_)}, not from torch's generator: torch.manual_seed() does not "
            "reach it",
            f"draw with torch (torch.rand, torch.randint), or seed {listed(globals_)} too and ask with seed_all=True",
        )
    for (name, generator), state in zip(own, before, strict=True):
        if repr(_state(generator)) != state:
            kind = f"{type(generator).__module__}.{type(generator).__name__}".replace("._generator", "").replace(
                "._C", ""
            )
            yield Cause(
                f"random numbers come from {name}, a {kind} that goes on from run to run: torch.manual_seed() does not "
                "reach it",
                f"seed {name} where it is made and hand it in, or draw with torch's own generator",
            )


def _numpy_state() -> Any:
    numpy = sys.modules.get("numpy")
    return None if numpy is None else repr(numpy.random.get_state())


def _generators(thing: Any) -> list[tuple[str, Any]]:
    """Generators that a model or function holds on to, with their names."""
    return [(name, value) for name, value in _held(thing) if _is_generator(value)]


def _held(thing: Any) -> Iterator[tuple[str, Any]]:
    """What a model or function can remember: attributes, those of its class, and the globals its code uses."""
    codes = []
    if isinstance(thing, nn.Module):
        for prefix, part in thing.named_modules():
            for name, value in vars(part).items():
                if not name.startswith("_"):
                    yield ".".join(filter(None, ("self", prefix, name))), value
            for base in type(part).__mro__:
                if _is_users(base):
                    for name, value in vars(base).items():
                        if not name.startswith("__") and not callable(value):
                            yield f"{base.__name__}.{name}", value
                    codes += [value for value in vars(base).values() if hasattr(value, "__code__")]
    else:
        codes.append(thing)
    for function in codes:
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if code is None:
            continue
        yield from ((f"{function.__name__}.{name}", value) for name, value in vars(function).items())
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            yield name, cell.cell_contents
        yield from ((name, function.__globals__[name]) for name in code.co_names if name in function.__globals__)


def _is_users(kind: type) -> bool:
    filename = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return filename is not None and is_users(filename)


def _never_the_same(subject: Any) -> Iterator[Cause]:
    """Calls of the clock or the system's entropy, from the user's own lines."""
    seen: dict[str, Place | None] = {}
    with _listening(seen):
        subject.run(subject.copy())
    for name, place in seen.items():
        yield Cause(
            f"{name} gives something else at every call{at(place)}, and no seed reaches it",
            f"keep {name} out of what the result depends on"
            + (", or give it a seed" if name.endswith("default_rng") else ""),
        )


@contextmanager
def _listening(seen: dict[str, Place | None]) -> Iterator[None]:
    undo = []
    for module_name, names in _NEVER_THE_SAME.items():
        module = sys.modules.get(module_name) or (importlib.import_module(module_name) if module_name == "os" else None)
        for name in names:
            original = getattr(module, name, None)
            if original is not None:
                setattr(module, name, _noting(original, f"{module_name}.{name}", seen))
                undo.append((module, name, original))
    try:
        yield
    finally:
        for module, name, original in undo:
            setattr(module, name, original)


def _noting(original: Any, name: str, seen: dict[str, Place | None]) -> Any:
    @functools.wraps(original)
    def noted(*args: Any, **kwargs: Any) -> Any:
        caller = sys._getframe(1)
        unseeded = (not args and not kwargs) or not name.endswith("default_rng")
        if unseeded and is_users(caller.f_code.co_filename):
            seen.setdefault(name, place_of(caller.f_code, caller.f_lasti))
        return original(*args, **kwargs)

    return noted


def _state_that_stays(subject: Any) -> Iterator[Cause]:
    copy = subject.copy()
    before = State.of(copy)
    subject.run(copy)
    # A copy starts from the same buffers each time: only what copies share can make a difference.
    changed = [name for name in before.changed(copy) if not (subject.is_model and name.startswith("self."))]
    if changed:
        yield Cause(
            f"running it changes what the next run finds: {listed(changed)}",
            "keep what is remembered in buffers of the model, or hand it in and return it",
        )


def _unordered(thing: Any) -> Iterator[Cause]:
    for name, value in _held(thing):
        if isinstance(value, set | frozenset) and len(value) > 1 and any(_by_address(item) for item in value):
            yield Cause(
                f"{name} is a set, and the order of its members goes by their addresses in memory",
                f"make {name} a list or a dict, or go through it in sorted order",
            )


def _by_address(item: Any) -> bool:
    own: Any = type(item).__hash__
    return own in (object.__hash__, Tensor.__hash__)


class State:
    """What a model or function holds, to be compared with what it holds later."""

    def __init__(self, held: dict[str, Any]) -> None:
        self._held = held

    @classmethod
    def of(cls, thing: Any) -> State:
        held = {name: _frozen(value) for name, value in _held(thing)}
        if isinstance(thing, nn.Module):
            held |= {f"self.{name}": _frozen(value) for name, value in thing.state_dict().items()}
        return cls(held)

    def changed(self, thing: Any) -> list[str]:
        now = State.of(thing)._held
        return [name for name, value in now.items() if not _same(self._held.get(name), value)]


def _frozen(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, int | float | str | bool | None):
        return value
    if isinstance(value, list | tuple | set | frozenset | dict):
        return (type(value).__name__, len(value), repr(value)[:1000] if len(value) < 100 else "")
    return type(value).__name__


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return one.shape == other.shape and torch.equal(one.nan_to_num(), other.nan_to_num())
    return type(one) is type(other) and bool(one == other or one != one)
