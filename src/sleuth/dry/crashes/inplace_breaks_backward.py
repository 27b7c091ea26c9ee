"""A value that backward needs was changed in place: by which line, and which operation had kept it."""

from __future__ import annotations

import re

from sleuth.dry.births import Birth
from sleuth.dry.crash import Crash
from sleuth.dry.crashes import _history, _recorded, _scene, _words
from sleuth.dry.crashes._told import told
from sleuth.findings import Finding, Fix, Link

_WORDS = re.compile(r"modified by an inplace operation: \[[\w.]+ \[([\d, ]*)\]\](?:, which is output \d+ of (\w+),)?")
# Their derivative is computed from their result, so that they keep it.
_KEEP_THEIR_RESULT = {"relu", "sigmoid", "tanh", "exp", "sqrt", "softmax", "log_softmax", "rsqrt", "reciprocal", "elu"}

_VIEWS = {
    *("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "transpose", "permute", "t", "T", "mT"),
    *("getitem", "select", "narrow", "chunk", "split", "unbind", "expand", "expand_as", "view_as", "diagonal"),
}


def explain(crash: Crash) -> Finding | None:
    found = _WORDS.search(crash.message)
    call = crash.call
    if "modified by an inplace operation" not in crash.message or call is None or not call.births:
        return None
    sizes, node = found.groups() if found is not None else ("", None)
    shape = tuple(int(size) for size in sizes.split(",") if size.strip())
    stepped = _weight_stepped(crash, shape)
    changed = None if stepped is not None else _changed(crash, call.births[0], shape, node or "")
    if stepped is not None:
        return _by_the_optimiser(crash, stepped)
    if changed is None:
        return told("inplace-breaks-backward", crash)
    return _by_a_line(crash, changed, call.births[0])


def _changed(crash: Crash, loss: Birth, shape: tuple[int, ...], node: str) -> Birth | None:
    """Of all on the way to the loss that were changed in place, the one that fits what backward says best."""
    way = list(loss.ancestors())
    known = set(map(id, way))
    aside = [one for one in reversed(crash.stage.births.changed) if one.parents and id(one.parents[0]) in known]
    inplace = [one for one in way if one.operation.endswith("_") and one.parents] + aside
    named = [one for one in inplace if node and _recorded.is_of(_viewed(one.parents[0]), node)]
    return next(iter([*named, *(one for one in inplace if one.shape == shape), *inplace]), None)


def _viewed(birth: Birth) -> Birth:
    """The tensor itself, where this is only a view of it."""
    return next((one for one in _history.line(birth) if one.operation not in _VIEWS), birth)


def _by_a_line(crash: Crash, changed: Birth, loss: Birth) -> Finding:
    before = _viewed(changed.parents[0])
    user = _needs(before, changed, loss)
    how = _words.maker(changed) if _in_a_layer(changed) else _words.operation(changed.operation)
    needed = f"{_words.operation(user.operation)} needs the value it had" if user is not None else "backward needs it"
    line = f" on line {changed.place.line}" if changed.place is not None else ""
    return told(
        "inplace-breaks-backward",
        crash,
        place=changed.place,
        title=f"{how} changes {_words.shape(changed.shape)} in place, and {needed}",
        chain=[
            Link(f"{_words.maker(before)} made the value, {_words.shape(before.shape)}", before.place),
            *([Link(f"{_words.maker(user)} keeps it for its gradient", user.place)] if user is not None else []),
            Link(f"{how} writes over it{line}", changed.place),
            Link("backward finds another value than was kept", crash.place),
        ],
        fixes=[_fix(changed)],
    )


def _needs(before: Birth, changed: Birth, loss: Birth) -> Birth | None:
    """Who kept the value: its maker, or another that was given it before the change."""
    if before.operation.strip("_") in _KEEP_THEIR_RESULT:
        return before
    users = (one for one in loss.ancestors() if one is not changed and any(one_of is before for one_of in one.parents))
    return next(users, None)


def _in_a_layer(changed: Birth) -> bool:
    """Was it a layer of torch's, made with inplace=True?"""
    return bool(changed.layer) and _words.is_of_torch(changed.layer)


def _fix(changed: Birth) -> Fix:
    if _in_a_layer(changed):
        return Fix(f"{_words.class_of(changed.layer)}(inplace=False)")
    text = (changed.place.code or "") if changed.place is not None else ""
    for sign in ("+", "-", "*", "/"):
        target, found, value = text.partition(f" {sign}= ")
        if found:
            return Fix(f"make a new tensor: `{target} = {target} {sign} {value}`")
    if changed.operation == "setitem_":
        return Fix("make a new tensor, e.g. with torch.where(), or change a .clone() of it")
    return Fix(f"make a new tensor: {changed.operation.rstrip('_')}() instead of {changed.operation}()")


def _weight_stepped(crash: Crash, shape: tuple[int, ...]) -> tuple[str, Birth] | None:
    """A weight of that shape, or its transpose, that an optimiser has written to since the model was called."""
    if not crash.stage.optimizers or crash.call is None:
        return None
    used = set(map(id, crash.call.births[0].ancestors()))
    for root in _scene.roots(crash):
        for name, weight in root.named_parameters():
            now = crash.stage.births[weight]
            if now is None or id(now) in used or now.shape not in (shape, shape[::-1]):
                continue
            if any(id(one) in used for one in _history.line(now)):
                return name, now
    return None


def _by_the_optimiser(crash: Crash, stepped: tuple[str, Birth]) -> Finding:
    name, now = stepped
    return told(
        "inplace-breaks-backward",
        crash,
        title=f"an optimiser has changed {name} between the forward pass and this backward pass",
        chain=[
            Link(f"here {name} was changed in place", now.place),
            Link("backward needs the value it had in the forward pass", crash.place),
        ],
        fixes=[Fix("all backward passes first, then the steps; or a new forward pass after the step")],
    )
