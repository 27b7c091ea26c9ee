"""`tx = watched(optax.adam(1e-3))`: an optax optimiser whose training is watched, jitted or not."""

from __future__ import annotations

import ast
import atexit
import linecache
import math
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import optax

from sleuth.findings import Finding, Place
from sleuth.integrations.session import Session
from sleuth.live import EXPERIMENTS
from sleuth.live.jax import differentiated
from sleuth.live.jax.recorder import Recorder
from sleuth.program import place_at, place_of, users_frame

# `jax.grad` and `jax.value_and_grad` tell from here on, so that functions made before the optimiser are known.
differentiated.listen()


class Watched(optax.GradientTransformationExtraArgs):  # type: ignore[misc]
    """Does what the optimiser inside it does. Report at the end of the program, of a `with` block, or at `end()`."""

    recorder: Recorder
    _session: Session
    _ended: bool

    def end(self) -> None:
        """The training is over: judge it, and show what was found."""
        if not self._ended:
            self._ended = True
            atexit.unregister(self.end)
            self.recorder.finish()
            self._session.end()

    @property
    def findings(self) -> list[Finding]:
        """What was found so far."""
        return self._session.findings

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *error: Any) -> None:
        self.end()


def watched(
    inner: Any,
    *,
    ignore: Collection[str] = (),
    experiments: float = EXPERIMENTS,
    record: str | Path | None = None,
) -> Watched:
    """The optimiser, watched. Where `sleuth run` or `sleuth.watch()` is at work, what is found goes there. The
    settings are those of `sleuth.watch`."""
    frame = users_frame(sys._getframe(1))
    inner = optax.with_extra_args_support(inner) if isinstance(inner, tuple) else inner
    session = Session(ignore=ignore, experiments=experiments, record=record)
    watch = session.begin()
    settings = dict(_settings(inner.update))
    recorder = Recorder(watch, _made(frame), _kind(inner.update), settings, _rate(inner), inner)
    watch.host.guests.append(recorder)

    def init(params: Any) -> Any:
        state = inner.init(params)
        try:
            return recorder.init(params, state)
        except Exception as error:
            recorder.fail(error)
            return state

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        mine = hasattr(state, "sleuth_step")
        new, after = inner.update(updates, state.inner if mine else state, params, **extra)
        if not mine:
            return new, after
        told = state
        if not recorder.off:
            try:
                told = recorder.stepped(updates, state, extra.get("value"))
            except Exception as error:
                recorder.fail(error)
        kind = type(state)
        return new, kind(after, told.sleuth_step, told.sleuth_rows, told.sleuth_kept, recorder, told.sleuth_mode)

    tx = Watched(init, update)
    tx.recorder, tx._session, tx._ended = recorder, session, False
    atexit.register(tx.end)
    return tx


def _made(frame: FrameType | None) -> Place | None:
    """The line that makes the optimiser: this call, or the assignment of the name that it is given."""
    if frame is None:
        return None
    here = place_of(frame.f_code, frame.f_lasti)
    filename = frame.f_code.co_filename
    try:
        call = ast.parse(here.code or "", mode="eval").body
        given = call.args[0] if isinstance(call, ast.Call) and call.args else None
        if not isinstance(given, ast.Name):
            return here
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return here
    lines = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and node.lineno < here.line
        and any(isinstance(target, ast.Name) and target.id == given.id for target in node.targets)
        and isinstance(node.value, ast.Call)
    ]
    return place_at(filename, max(lines)) if lines else here


def _cells(function: Any, depth: int = 8) -> Iterator[tuple[str, str, Any]]:
    """What an optimiser is made of: (the function that made a part, the name of a setting, its value)."""
    code, closure = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    if code is None or closure is None or not depth:
        return
    maker = function.__qualname__.partition(".")[0]
    for name, cell in zip(code.co_freevars, closure, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        yield maker, name, value
        for part in value if isinstance(value, tuple | list) else (value,):
            for one in part if isinstance(part, tuple) else (part,):
                if callable(one):
                    yield from _cells(one, depth - 1)


def _kind(update: Callable[..., Any]) -> str:
    for maker, _, _ in _cells(update):
        if maker.startswith("scale_by_") and maker not in ("scale_by_learning_rate", "scale_by_schedule"):
            return maker.removeprefix("scale_by_")
    return "the optimiser"


_SETTINGS = {("add_decayed_weights", "weight_decay"): "weight_decay", ("trace", "decay"): "momentum"}


def _settings(update: Callable[..., Any]) -> Iterator[tuple[str, float]]:
    for maker, name, value in _cells(update):
        setting = _SETTINGS.get((maker, name))
        if setting is not None and isinstance(value, int | float):
            yield setting, float(value)


def _rate(inner: Any) -> Callable[[int], float]:
    """The learning rate by step, read from what the optimiser holds; NaN where it does not tell."""
    fixed, schedules = 1.0, []
    found = False
    for maker, name, value in _cells(inner.update):
        if (maker, name) == ("scale", "step_size") and isinstance(value, int | float):
            fixed, found = fixed * abs(float(value)), True
        elif (maker, name) == ("scale_by_schedule", "step_size_fn"):
            schedules.append(value)
    if not found and not schedules:
        return lambda step: math.nan

    def rate(step: int) -> float:
        try:
            return fixed * math.prod(abs(float(schedule(step))) for schedule in schedules)
        except Exception:
            return math.nan

    return rate
