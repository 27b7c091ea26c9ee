"""Whose fault a crash is, the program's or the rehearsal's: before it is told, what is pretended is left out of it."""

from __future__ import annotations

import dis
import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import torch

from sleuth.dry.tensors import tensors_in
from sleuth.program import is_users

if TYPE_CHECKING:
    from sleuth.dry.crash import Crash
    from sleuth.dry.stage import Stage

_OURS = os.path.dirname(os.path.abspath(__file__)) + os.sep
# What the CPU says of a call that would go to a card: of what there is on one it knows nothing.
_OF_THE_CPU_ALONE = re.compile(
    r"arguments from the 'CPU' backend|not (?:compiled|linked) with (?:support for )?(?:CUDA|cuDNN)|"
    r"not implemented for '(?:Half|BFloat16|ComplexHalf|Float\d_\w+|Float8\w+)'|"
    r"(?:only|not) supported (?:on|for|in) (?:the )?(?:CUDA|CPU|GPU)|(?:not|un)available on (?:the )?CPU|"
    r"requires? (?:a )?(?:CUDA|GPU)|not (?:yet )?(?:implemented|supported) (?:on|for) (?:the )?CPU",
    re.IGNORECASE,
)
# Instructions that cannot fail because of what the program gave us, unless we have not thought of it.
_OWN_MISTAKES = ("LOAD_", "STORE_", "BINARY_", "COMPARE_", "IMPORT_", "CONTAINS_")
# Elements that are affordable to compute with once more, where the rehearsal had no numbers.
_AFFORDABLE = 1 << 24
# Python itself says these of the program's own lines, whatever is pretended.
_PLAIN_MISTAKES = (NameError, SyntaxError)


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call of torch that failed though nothing of ours had refused it, with all that it depends on."""

    run: Callable[..., Any]  # run(func, args, kwargs, label, name)
    func: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    label: str | None
    name: str
    error: BaseException  # in the CPU's own words
    grad: bool
    autocast: tuple[bool, torch.dtype] | None

    @classmethod
    def of(
        cls,
        run: Callable[..., Any],
        call: tuple[Any, tuple[Any, ...], dict[str, Any]],
        label: str | None,
        name: str,
        error: BaseException,
    ) -> Attempt:
        kind = _kind(label)
        enabled = kind in ("cpu", "cuda") and torch.is_autocast_enabled(kind)
        autocast = (True, torch.get_autocast_dtype(kind)) if enabled else None
        return cls(run, *call, label, name, error, torch.is_grad_enabled(), autocast)


def why_ours(crash: Crash) -> str | None:
    """Why it is the rehearsal that crashed and not the program; None where nothing speaks for that."""
    error = crash.error
    if _is_own_mistake(error.__traceback__):
        return "something inside Sleuth failed"
    if isinstance(error, AttributeError) and _is_a_stand_in(getattr(error, "obj", None)):
        return f"{type(error.obj).__name__} is pretended, and has no {error.name}"
    attempt = getattr(error, "__sleuth_attempt__", None)
    if not isinstance(attempt, Attempt):
        return None
    if _kind(attempt.label) not in ("cpu", "meta") and _OF_THE_CPU_ALONE.search(str(attempt.error)):
        return f"{attempt.name}() would run on the card, and cannot be tried on a CPU"
    if _goes_well_plainly(attempt, crash.stage):
        return f"{attempt.name}() fails only among what is pretended"
    return None


def is_proved(crash: Crash) -> bool:
    """Is it certain already, without another run, that the program itself has raised this?"""
    if crash.call is not None or getattr(crash.error, "__sleuth_attempt__", None) is not None:
        return True
    return isinstance(crash.error, _PLAIN_MISTAKES) and in_users_line(crash.error.__traceback__)


def in_users_line(traceback: TracebackType | None) -> bool:
    """Was it raised by a line of the program itself, rather than inside a library?"""
    last = _innermost(traceback)
    return last is not None and is_users(last.tb_frame.f_code.co_filename)


def _is_own_mistake(traceback: TracebackType | None) -> bool:
    """Did a line of ours fail that neither raises on purpose nor calls what is not ours?"""
    last = _innermost(traceback)
    if last is None or not last.tb_frame.f_code.co_filename.startswith(_OURS):
        return False
    return dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]].startswith(_OWN_MISTAKES)


def _is_a_stand_in(one: Any) -> bool:
    """Is it an object of ours that the program takes for one of torch's?"""
    return any(kind.__module__.startswith("sleuth.dry.") for kind in type(one).__mro__)


def _innermost(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _goes_well_plainly(attempt: Attempt, stage: Stage) -> bool:
    """The same call with plain tensors, everything pretended taken away: does it succeed?"""
    args, kwargs = attempt.args, attempt.kwargs
    if stage.fake:
        if sum(one.numel() for one in tensors_in((args, kwargs))) > _AFFORDABLE:
            return False
        from sleuth.dry.fake.reality import sane

        args, kwargs = sane(args), {name: sane(value) for name, value in kwargs.items()}
    went_well = False

    def once_more() -> None:
        nonlocal went_well
        _as_it_was(attempt)
        try:
            attempt.run(attempt.func, args, kwargs, attempt.label, attempt.name)
        except Exception:
            return
        went_well = True

    with stage.patches.lifted():
        # Modes are a thread's own: a new one has none of them.
        thread = threading.Thread(target=once_more, name="sleuth-once-more")
        thread.start()
        thread.join()
    return went_well


def _as_it_was(attempt: Attempt) -> None:
    torch.set_grad_enabled(attempt.grad)
    if attempt.autocast is not None:
        kind = _kind(attempt.label)
        torch.set_autocast_enabled(kind, attempt.autocast[0])
        torch.set_autocast_dtype(kind, attempt.autocast[1])


def _kind(label: str | None) -> str:
    return (label or "cpu").partition(":")[0]
