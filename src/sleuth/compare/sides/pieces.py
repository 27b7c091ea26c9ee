"""A layer written out as several small operations, taken as the one that it is: only its result is compared."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["input", "product", "convolution", "add", "root", "mean", "shape", "idle", "other"]

# More operations than that are no normalisation layer.
_MOST_OF_A_NORM = 32
_ENDS_OF_A_NORM = frozenset({"add", "mul", "div", "sub"})


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a graph: what it is computed from, the call or layer it stands in, and PyTorch's word for it.

    `whole` is the word for all of its scope, where that is a known function such as gelu."""

    name: str
    kind: Kind
    word: str
    parents: tuple[str, ...]
    scope: tuple[str, ...] = ()
    whole: str = ""


# Stands for whoever asked for the outputs.
_OUTSIDE = Step("", "other", "", ())


@dataclass(slots=True)
class Wholes:
    """`dependent` are steps that the inputs reach, `pieces` those that are part of a whole, `words` the wholes'."""

    dependent: set[str] = field(default_factory=set)
    pieces: set[str] = field(default_factory=set)
    words: dict[str, str] = field(default_factory=dict)

    def is_compared(self, step: Step) -> bool:
        return step.name in self.dependent and step.name not in self.pieces and step.kind not in ("input", "idle")

    def word(self, step: Step) -> str:
        """A product with something that does not depend on the inputs, as weights do not, is a linear layer."""
        if step.name in self.words:
            return self.words[step.name]
        if step.kind == "product" and any(parent not in self.dependent for parent in step.parents):
            return "linear"
        return step.word


def wholes(steps: list[Step]) -> Wholes:
    found = Wholes()
    users: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        if step.kind == "input" or any(parent in found.dependent for parent in step.parents):
            found.dependent.add(step.name)
        for parent in step.parents:
            users[parent].append(step)
    by_name = {step.name: step for step in steps}
    for step in steps:
        _take_bias(step, by_name, users, found)
    _take_scopes(steps, users, found)
    return found


def _take_bias(step: Step, by_name: dict[str, Step], users: dict[str, list[Step]], found: Wholes) -> None:
    """A product with weights and the bias added to it are one linear layer, or one convolution."""
    given = [parent for parent in step.parents if parent in found.dependent]
    if step.kind != "add" or len(given) != 1 or len(step.parents) != 2:
        return
    chain = [by_name[given[0]]]
    while chain[-1].kind in ("idle", "shape") and chain[-1].parents:
        chain.append(by_name[next(parent for parent in chain[-1].parents if parent in found.dependent)])
    word = found.word(chain[-1])
    is_layer = chain[-1].kind == "convolution" or word == "linear"
    if is_layer and all(len(users[one.name]) == 1 for one in chain):
        found.words[step.name] = word
        found.pieces |= {one.name for one in chain}


def _take_scopes(steps: list[Step], users: dict[str, list[Step]], found: Wholes) -> None:
    inside: dict[tuple[str, ...], list[Step]] = defaultdict(list)
    for step in steps:
        for depth in range(1, len(step.scope) + 1):
            inside[step.scope[:depth]].append(step)
    told = {step.scope: step.whole for step in steps if step.whole}
    rooted = {step.scope: "" for step in steps if step.kind == "root" and step.scope}
    for scope, word in {**rooted, **told}.items():
        for mine in _apart([step for step in inside[scope] if found.is_compared(step)], users):
            end = _only_exit(mine, users)
            if end is not None and (word or _is_norm(mine, inside[scope], end, found)):
                found.words[end.name] = word or _kind_of_norm(inside[scope], mine, found)
                found.pieces |= {step.name for step in mine if step is not end}


def _apart(mine: list[Step], users: dict[str, list[Step]]) -> list[list[Step]]:
    """One line may call the same function twice: steps that have nothing to do with each other are two calls."""
    names = {step.name for step in mine}
    group = {step.name: step.name for step in mine}
    for step in mine:
        for user in _real_users(step, users):
            if user.name in names:
                old, new = group[user.name], group[step.name]
                group = {name: new if one == old else one for name, one in group.items()}
    calls: dict[str, list[Step]] = defaultdict(list)
    for step in mine:
        calls[group[step.name]].append(step)
    return list(calls.values())


def _only_exit(mine: list[Step], users: dict[str, list[Step]]) -> Step | None:
    names = {step.name for step in mine}
    exits = [one for one in mine if not names.issuperset(user.name for user in _real_users(one, users) or [_OUTSIDE])]
    return exits[0] if len(exits) == 1 and exits[0] is mine[-1] else None


def _real_users(step: Step, users: dict[str, list[Step]]) -> list[Step]:
    """Those behind the steps that only hand it on."""
    found = []
    for user in users[step.name]:
        found += (_real_users(user, users) or [_OUTSIDE]) if user.kind == "idle" else [user]
    return found


def _is_norm(mine: list[Step], inside: list[Step], end: Step, found: Wholes) -> bool:
    """One reciprocal root, one value that comes in, no product with weights."""
    names = {step.name for step in inside}
    entries = {parent for step in mine for parent in step.parents if parent not in names and parent in found.dependent}
    return (
        sum(step.kind == "root" for step in inside) == 1
        and len(entries) == 1
        and 1 < len(mine) <= _MOST_OF_A_NORM
        and end.word in _ENDS_OF_A_NORM
        and not any(step.kind in ("product", "convolution") for step in mine)
    )


def _kind_of_norm(inside: list[Step], mine: list[Step], found: Wholes) -> str:
    if not any(step.kind == "root" and step.name in found.dependent for step in inside):
        return "batch_norm"
    return "layer_norm" if sum(step.kind == "mean" for step in mine) > 1 else "rms_norm"
